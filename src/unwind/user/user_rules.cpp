#include "unwind/user/user_rules.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "arch/arch_info.h"
#include "base/least_recent.h"
#include "unwind/code_unit.h"
#include "unwind/x86/frame_analysis.h"
#include "unwind/x86/frame_pointer_use.h"
#include "unwind/x86/function_starts.h"
#include "unwind/x86/signal_return.h"

namespace ringside::unwind {
namespace {

// Addresses of one file whose rules are remembered.
constexpr std::size_t kMaxKnown = 32768;
// No more than this is the code that calls __libc_start_main, or the loader's _dl_start.
constexpr std::uint64_t kEntryBytes = 96;

// The stubs of the procedure linkage table, in sections that call-frame information leaves out
// where calls have a link register: they jump on with what they were called with. Its first entry
// is another matter: it pushes registers on the way to the dynamic loader (ELF for the Arm 64-bit
// Architecture, RISC-V ELF Specification: "Procedure Linkage Table"; 32 bytes in both).
bool is_linkage_stub(const elf::ElfFile& file, ImageAddr address) {
  constexpr std::uint64_t kFirstEntryBytes = 32;
  if (const auto stubs = file.section(".plt"))
    if (address - stubs->address < stubs->size) return address - stubs->address >= kFirstEntryBytes;
  const auto local = file.section(".iplt");
  return local && address - local->address < local->size;
}

// The same on x86, where call-frame information is missing in static programs: functions that have
// one of several versions (STT_GNU_IFUNC) are jumped to.
bool is_jump_through_table(const elf::ElfFile& file, ImageAddr address) {
  constexpr std::uint64_t kFirstEntryBytes = 16;  // of .plt; it pushes first
  const auto is_in = [&](const std::optional<elf::Section>& stubs, std::uint64_t from) {
    const std::uint64_t offset = stubs ? address - stubs->address : 0;
    return stubs && offset >= from && offset < stubs->size;
  };
  const Bytes code = file.bytes_at(address, 2);  // jmp *m64, or m32
  return code.size() == 2 && code[0] == std::byte{0xff} && code[1] == std::byte{0x25} &&
         (is_in(file.section(".plt"), kFirstEntryBytes) || is_in(file.section(".iplt"), 0));
}

// The return address is in the link register, and nothing was saved.
Rule rule_of_leaf(const arch::ArchInfo& platform) {
  const arch::RegisterRoles& roles = platform.roles;
  Rule rule;
  rule.source = FrameSource::kInstructions;
  rule.cfa = {.kind = CfaRule::Kind::kRegisterOffset, .reg = roles.sp};
  rule.registers.fill({.kind = RegisterRule::Kind::kSame});
  rule.return_register = roles.link;
  return rule;
}

}  // namespace

class UserRules::Instructions {
 public:
  Instructions(const elf::ElfFile& file, const arch::ArchInfo& platform)
      : file_(file),
        platform_(platform),
        decoder_(platform),
        units_(file),
        keeps_frame_pointers_(file.symbols().empty()
                                  ? x86::keeps_frame_pointers(file, starts().all())
                                  : x86::keeps_frame_pointers(file)) {}

  [[nodiscard]] Known at(ImageAddr address) {
    Known known;
    known.ends_at_zero_fp = keeps_frame_pointers_;
    if (is_jump_through_table(file_, address)) {
      known.rule = x86::rule_of({.depth = platform_.roles.pointer_size}, platform_);
      return known;
    }
    const auto unit = units_.find(address);
    const auto state = unit ? state_in(*unit, address) : std::nullopt;
    if (state) known.rule = x86::rule_of(*state, platform_);
    // Behind a symbol that does not say how long its function is there may be others.
    known.checks_call = !known.rule || unit->is_assumed;
    if (known.rule) return known;
    if (const auto nameless = state_in_nameless(address))
      known.rule = x86::rule_of(*nameless, platform_);
    return known;
  }
  // Bytes.
  [[nodiscard]] std::size_t memory_use() const {
    return analysed_bytes_ + (starts_ ? starts_->memory_use() : 0);
  }

 private:
  // Each function takes some kilobytes. Programs without symbols are sampled all over.
  static constexpr std::size_t kMostAnalysedBytes = 4 << 20;

  // Its start, the size of its first range, how many ranges it has, and CodeUnit::is_assumed.
  using UnitKey = std::tuple<std::uint64_t, std::uint64_t, std::size_t, bool>;
  struct Analysed {
    x86::FrameAnalysis function;
    std::uint64_t last_use = 0;
  };

  [[nodiscard]] x86::FunctionStarts& starts() {
    if (!starts_) starts_.emplace(file_);
    return *starts_;
  }
  [[nodiscard]] std::optional<x86::FrameState> state_in(const CodeUnit& unit, ImageAddr address) {
    const x86::FrameAnalysis& function = analysed(unit);
    return unit.is_assumed ? function.checked_at(address) : function.at(address);
  }
  [[nodiscard]] std::optional<x86::FrameState> state_in_nameless(ImageAddr address) {
    if (const auto range = starts().find(address)) {
      const x86::FrameAnalysis& function = analysed({{*range}, true});
      const auto state = function.checked_at(address);
      if (state && (function.returns() || may_not_return(function, *range))) return state;
    }
    for (const CodeRange& range : starts().find_jumped_to(address)) {
      const x86::FrameAnalysis& function = analysed({{range}, true});
      const auto state = function.checked_at(address);
      if (state && function.returns()) return state;
    }
    return std::nullopt;
  }
  [[nodiscard]] Analysed& analyse(const UnitKey& key, const CodeUnit& unit) {
    const auto bytes_of = [](const Analysed& each) { return each.function.memory_use(); };
    forget_beyond(analysed_, kMostAnalysedBytes, bytes_of);
    Analysed& added =
        analysed_.try_emplace(key, Analysed{x86::FrameAnalysis(file_, unit, platform_, decoder_)})
            .first->second;
    analysed_bytes_ = 0;
    for (const auto& [each, analysed] : analysed_) analysed_bytes_ += bytes_of(analysed);
    return added;
  }
  // Valid until the next call.
  [[nodiscard]] const x86::FrameAnalysis& analysed(const CodeUnit& unit) {
    const UnitKey key{unit.start().value, unit.ranges.front().size, unit.ranges.size(),
                      unit.is_assumed};
    const auto found = analysed_.find(key);
    Analysed& analysed = found != analysed_.end() ? found->second : analyse(key, unit);
    analysed.last_use = ++uses_;
    return analysed.function;
  }
  // Code that begins in the middle of a function goes back into it.
  [[nodiscard]] bool may_not_return(const x86::FrameAnalysis& function, const CodeRange& range) {
    const auto& jumps = function.tail_jumps();
    return starts().may_begin(range.start) &&
           std::all_of(jumps.begin(), jumps.end(),
                       [this](ImageAddr target) { return starts_->contains(target); });
  }

  const elf::ElfFile& file_;
  const arch::ArchInfo& platform_;
  x86::Decoder decoder_;
  CodeUnits units_;
  std::optional<x86::FunctionStarts> starts_;  // made when first asked
  std::map<UnitKey, Analysed> analysed_;
  std::size_t analysed_bytes_ = 0;  // of all of them
  std::uint64_t uses_ = 0;
  bool keeps_frame_pointers_;
};

UserRules::UserRules(std::shared_ptr<const elf::ElfFile> file, const arch::ArchInfo& platform)
    : file_(std::move(file)), platform_(platform), cfi_(file_, platform) {}

UserRules::~UserRules() = default;

const UserRules::Known& UserRules::at(ImageAddr pc, PcKind kind) {
  Remembered& known = known_[static_cast<std::size_t>(kind)];
  if (const auto found = known.find(pc.value); found != known.end()) return found->second;
  if (known.size() >= kMaxKnown) known.clear();
  Known& added = known.emplace(pc.value, look_up(pc, kind)).first->second;
  if (added.rule) added.compact = compact(*added.rule, platform_);
  return added;
}

std::size_t UserRules::memory_use() const {
  const cfi::Table::Size tables = cfi_.size();
  std::size_t bytes = file_->memory_use() + tables.bytes + tables.bytes_of_index;
  for (const Remembered& known : known_) bytes += known.size() * sizeof(Known);
  return bytes + (instructions_ ? instructions_->memory_use() : 0);
}

UserRules::Known UserRules::look_up(ImageAddr pc, PcKind kind) {
  if (auto rule = x86::signal_return_rule(*file_, pc, kind, platform_)) {
    Known known;
    known.rule = std::move(rule);
    return known;
  }
  const ImageAddr address = kind == PcKind::kReturnAddress ? pc - 1 : pc;
  if (auto row = cfi_.find(address)) {
    Known known;
    known.rule = std::move(row->rule);
    known.section = row->section;
    return known;
  }
  if (file_->entry().value != 0 && address - file_->entry() < kEntryBytes) {
    Known entry;
    entry.is_entry = true;
    return entry;
  }
  if (platform_.roles.link != arch::RegisterRoles::kNone) {
    Known stub;
    if (is_linkage_stub(*file_, address)) stub.rule = rule_of_leaf(platform_);
    return stub;
  }
  if (!instructions_) instructions_ = std::make_unique<Instructions>(*file_, platform_);
  return instructions_->at(address);
}

}  // namespace ringside::unwind
