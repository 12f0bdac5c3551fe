#include "unwind/user_rules.h"

#include <algorithm>

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
  const auto is_in = [&](const std::optional<elf::Section>& stubs) {
    return stubs && address - stubs->address < stubs->size;
  };
  const Bytes code = file.bytes_at(address, 2);  // jmp *m64, or m32
  return code.size() == 2 && code[0] == std::byte{0xff} && code[1] == std::byte{0x25} &&
         (is_in(file.section(".plt")) || is_in(file.section(".iplt")));
}

// The return address is in the link register, and nothing was saved.
Rule rule_of_leaf(const Platform& platform) {
  const wire::RegisterRoles& roles = platform.roles;
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
  Instructions(const elf::ElfFile& file, const Platform& platform)
      : file_(file),
        platform_(platform),
        decoder_(platform),
        units_(file),
        starts_(file),
        keeps_frame_pointers_(file.symbols().empty()
                                  ? x86::keeps_frame_pointers(file, starts_.all())
                                  : x86::keeps_frame_pointers(file)) {}

  [[nodiscard]] Known at(ImageAddr address) {
    Known known;
    known.ends_at_zero_fp = keeps_frame_pointers_;
    std::optional<x86::FrameState> state;
    if (is_jump_through_table(file_, address))
      state = x86::FrameState{.depth = platform_.roles.pointer_size};
    else if (const auto unit = units_.find(address))
      state = x86::FrameAnalysis(file_, *unit, platform_, decoder_).at(address);
    // Behind a symbol that does not say how long its function is there may be others.
    known.checks_call = !state;
    if (!state) state = state_in_nameless(address);
    if (state) known.rule = x86::rule_of(*state, platform_);
    return known;
  }

 private:
  [[nodiscard]] std::optional<x86::FrameState> state_in_nameless(ImageAddr address) {
    if (const auto range = starts_.find(address)) {
      const x86::FrameAnalysis function(file_, {{*range}, true}, platform_, decoder_);
      const auto state = function.checked_at(address);
      if (state && (function.returns() || may_not_return(function, *range))) return state;
    }
    for (const CodeRange& range : starts_.find_jumped_to(address)) {
      const x86::FrameAnalysis function(file_, {{range}, true}, platform_, decoder_);
      const auto state = function.checked_at(address);
      if (state && function.returns()) return state;
    }
    return std::nullopt;
  }
  // What begins in the middle of a function goes back into it.
  [[nodiscard]] bool may_not_return(const x86::FrameAnalysis& function,
                                    const CodeRange& range) const {
    const auto& jumps = function.tail_jumps();
    return x86::FunctionStarts::may_begin(file_, range.start) &&
           std::all_of(jumps.begin(), jumps.end(),
                       [this](ImageAddr target) { return starts_.contains(target); });
  }

  const elf::ElfFile& file_;
  const Platform& platform_;
  x86::Decoder decoder_;
  CodeUnits units_;
  x86::FunctionStarts starts_;
  bool keeps_frame_pointers_;
};

UserRules::UserRules(std::shared_ptr<const elf::ElfFile> file, const Platform& platform)
    : file_(std::move(file)), platform_(platform), cfi_(file_, platform) {}

UserRules::~UserRules() = default;

const UserRules::Known& UserRules::at(ImageAddr pc, bool is_return_address) {
  Remembered& known = is_return_address ? known_of_callers_ : known_of_leaves_;
  if (const auto found = known.find(pc.value); found != known.end()) return found->second;
  if (known.size() >= kMaxKnown) known.clear();
  return known.emplace(pc.value, look_up(pc, is_return_address)).first->second;
}

std::size_t UserRules::memory_use() const {
  const cfi::Table::Size tables = cfi_.size();
  return file_->memory_use() + tables.bytes + tables.bytes_of_index +
         (known_of_leaves_.size() + known_of_callers_.size()) * sizeof(Known);
}

UserRules::Known UserRules::look_up(ImageAddr pc, bool is_return_address) {
  if (auto rule = x86::signal_return_rule(*file_, pc, platform_)) {
    Known known;
    known.rule = std::move(rule);
    return known;
  }
  const ImageAddr address = is_return_address ? pc - 1 : pc;
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
  if (platform_.roles.link != wire::RegisterRoles::kNone) {
    Known stub;
    if (is_linkage_stub(*file_, address)) stub.rule = rule_of_leaf(platform_);
    return stub;
  }
  if (!instructions_) instructions_ = std::make_unique<Instructions>(*file_, platform_);
  return instructions_->at(address);
}

}  // namespace ringside::unwind
