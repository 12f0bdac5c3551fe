#include "unwind/x86/exit_rule.h"

#include "arch/arch_info.h"

namespace ringside::unwind::x86 {
namespace {

using Place = CompactRule::Place;

// Gives each word a value when it is first loaded, and knows afterwards where a value came from.
class NamedWords final : public PathMemory {
 public:
  [[nodiscard]] std::optional<std::uint64_t> load(GuestVirt at, Unknowns& unknowns) override {
    // On a real stack, too, nobody knows that address.
    if (Unknowns::is_lost(at.value)) return std::nullopt;
    const auto [found, added] = values_.try_emplace(at.value);
    if (added) {
      found->second = unknowns.make();
      addresses_.emplace(found->second, at.value);
    }
    return found->second;
  }
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t value) const {
    const auto found = addresses_.find(value);
    return found == addresses_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> values_;     // by address
  std::unordered_map<std::uint64_t, std::uint64_t> addresses_;  // by value
};

// A place on the stack, or on the one that the word on top of it points to.
struct StackPlace {
  bool other_stack = false;
  std::int64_t offset = 0;
  bool operator==(const StackPlace&) const = default;
};

struct Exit {
  Operation by = Operation::kRet;
  StackPlace leaves_to = {};  // where the pc lies that it goes on at
  std::int64_t popped = 0;    // beside a return address
  Place fp = Place::kLost;
  std::int64_t fp_offset = 0;  // from the start of the same stack as leaves_to
  bool operator==(const Exit&) const = default;
};

class Exits {
 public:
  Exits(const arch::ArchInfo& platform) : platform_(platform), execution_(platform, words_) {}

  // Nothing where exits differ, or something is not known.
  [[nodiscard]] std::optional<Exit> all(const elf::Image& image, CodeReader& code, GuestVirt pc);

 private:
  // False: there is no rule.
  [[nodiscard]] bool add(const Instruction& instruction, const Path& path);
  [[nodiscard]] std::optional<Exit> exit_of(const Instruction& instruction, const Path& path,
                                            std::uint64_t at) const;
  // Where the words lie that the instruction takes from the stack; nothing if they were made here.
  [[nodiscard]] std::optional<std::uint64_t> source_of_words(std::uint64_t count, const Path& path);
  [[nodiscard]] std::optional<StackPlace> place_of(std::uint64_t address) const;

  const arch::ArchInfo& platform_;
  const arch::RegisterRoles& roles_ = platform_.roles;
  NamedWords words_;
  Execution execution_;
  MachineState start_;
  std::optional<Exit> exit_;
};

std::optional<Exit> Exits::all(const elf::Image& image, CodeReader& code, GuestVirt pc) {
  start_.platform = &platform_;
  for (std::uint8_t reg = 0; reg < roles_.pc; ++reg) start_.set(reg, execution_.unknown());
  start_.set(roles_.pc, pc.value);
  bool one_place = true;
  const SearchEnd end = search(image, code, execution_, start_, roles_.callee_saved,
                               [&](const Instruction& instruction, const Path& path) {
                                 one_place = add(instruction, path);
                                 return !one_place;
                               });
  const bool all_different = execution_.unknowns().made() <= Unknowns::kLimit;
  return end == SearchEnd::kNoMore && all_different ? exit_ : std::nullopt;
}

bool Exits::add(const Instruction& instruction, const Path& path) {
  std::optional<Exit> exit = Exit{.by = instruction.operation};
  if (instruction.operation != Operation::kSystemRet) {
    // A stack whose address nobody knows does not lead anywhere on a real stack either.
    const auto top = execution_.load(path, path.state.sp());
    if (!top && Unknowns::is_lost(path.state.sp().value)) return true;
    const bool is_interrupt = instruction.operation == Operation::kInterruptRet;
    const std::uint64_t words = !is_interrupt ? 1 : platform_.id == Arch::kI386 ? 3 : 5;
    const auto from = source_of_words(words, path);
    exit = from ? exit_of(instruction, path, *from) : std::nullopt;
  }
  if (!exit || (exit_ && *exit_ != *exit)) return false;
  exit_ = exit;
  return true;
}

std::optional<std::uint64_t> Exits::source_of_words(std::uint64_t count, const Path& path) {
  const GuestVirt sp = path.state.sp();
  std::optional<std::uint64_t> first;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t offset = i * roles_.pointer_size;
    const auto word = execution_.load(path, {execution_.add(sp.value, offset)});
    const auto at = word ? words_.address_of(*word) : std::nullopt;
    if (!at || (first && *at != execution_.add(*first, offset))) return std::nullopt;
    if (!first) first = at;
  }
  return first;
}

std::optional<Exit> Exits::exit_of(const Instruction& instruction, const Path& path,
                                   std::uint64_t at) const {
  const auto place = place_of(at);
  if (!place) return std::nullopt;
  Exit exit{.by = instruction.operation, .leaves_to = *place, .popped = instruction.value};
  // The stack pointer of a caller is the one behind its return address.
  if (exit.by == Operation::kRet && path.state.sp().value != at) return std::nullopt;
  const std::uint64_t fp = path.state.get(roles_.fp);
  if (fp == start_.get(roles_.fp)) {
    exit.fp = Place::kSame;
  } else if (const auto saved = words_.address_of(fp)) {
    const auto slot = place_of(*saved);
    if (!slot || slot->other_stack != place->other_stack) return std::nullopt;
    exit.fp = Place::kSaved;
    exit.fp_offset = slot->offset;
  }
  return exit;
}

std::optional<StackPlace> Exits::place_of(std::uint64_t address) const {
  const std::uint64_t root = Unknowns::root(address);
  const auto offset = static_cast<std::int64_t>(address - root);
  if (!Unknowns::is_unknown(address)) return std::nullopt;
  if (root == start_.sp().value) return StackPlace{false, offset};
  if (words_.address_of(root) == start_.sp().value) return StackPlace{true, offset};
  return std::nullopt;
}

// False where an offset does not fit.
template <class T>
bool narrow(std::int64_t from, T& into) {
  into = static_cast<T>(from);
  return into == from;
}

bool fill(const Exit& exit, const arch::ArchInfo& platform, CompactRule& rule) {
  const std::int64_t word = platform.roles.pointer_size;
  // The CFA of a return is the caller's stack pointer; that of an interrupt in 32-bit code, which
  // does not push one, too.
  std::int64_t cfa = exit.leaves_to.offset;
  if (exit.by == Operation::kRet) {
    rule.kind = CompactRule::Kind::kCall;
    cfa += word + exit.popped;
  } else {
    rule.kind = CompactRule::Kind::kFrame;
    rule.source = FrameSource::kInterruptFrame;
    rule.has_status = rule.checks_frame = true;
    if (platform.id == Arch::kI386) cfa += 3 * word;
  }
  const std::int64_t pc = exit.leaves_to.offset - cfa;
  rule.base = exit.leaves_to.other_stack ? CompactRule::Base::kOtherStack
                                         : CompactRule::Base::kStackPointer;
  rule.pc = Place::kSaved;
  rule.sp = rule.checks_frame && platform.id != Arch::kI386 ? Place::kSaved : Place::kSame;
  rule.fp = exit.fp;
  return narrow(cfa, rule.cfa_offset) && narrow(pc, rule.pc_offset) &&
         narrow(pc + word, rule.status_offset) && narrow(pc + 3 * word, rule.sp_offset) &&
         narrow(exit.fp == Place::kSaved ? exit.fp_offset - cfa : 0, rule.fp_offset);
}

}  // namespace

CompactRule ExitRuleFinder::find(const elf::Image& image, GuestVirt pc) {
  const auto exit = Exits(platform_).all(image, code_, pc);
  CompactRule rule{.source = FrameSource::kInstructions, .knows_links = true};
  if (exit && exit->by == Operation::kSystemRet) {
    rule.kind = CompactRule::Kind::kUser;
    return rule;
  }
  if (exit && fill(*exit, platform_, rule)) return rule;
  return {.kind = CompactRule::Kind::kSlow, .source = FrameSource::kInstructions};
}

}  // namespace ringside::unwind::x86
