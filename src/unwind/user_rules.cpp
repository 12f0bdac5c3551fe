#include "unwind/user_rules.h"

#include "unwind/code_unit.h"
#include "unwind/x86/frame_analysis.h"
#include "unwind/x86/frame_pointer_use.h"

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
        keeps_frame_pointers_(x86::keeps_frame_pointers(file)) {}

  [[nodiscard]] Known at(ImageAddr address) {
    Known known;
    known.ends_at_zero_fp = keeps_frame_pointers_;
    const auto unit = units_.find(address);
    if (!unit) return known;
    const x86::FrameAnalysis function(file_, *unit, platform_, decoder_);
    const auto state = function.at(address);
    if (state) known.rule = x86::rule_of(*state, platform_);
    return known;
  }

 private:
  const elf::ElfFile& file_;
  const Platform& platform_;
  x86::Decoder decoder_;
  CodeUnits units_;
  bool keeps_frame_pointers_;
};

UserRules::UserRules(std::shared_ptr<const elf::ElfFile> file, const Platform& platform)
    : file_(std::move(file)), platform_(platform), cfi_(file_, platform) {}

UserRules::~UserRules() = default;

const UserRules::Known& UserRules::at(ImageAddr address) {
  if (const auto found = known_.find(address.value); found != known_.end()) return found->second;
  if (known_.size() >= kMaxKnown) known_.clear();
  return known_.emplace(address.value, look_up(address)).first->second;
}

std::size_t UserRules::memory_use() const {
  const cfi::Table::Size tables = cfi_.size();
  return file_->memory_use() + tables.bytes + tables.bytes_of_index + known_.size() * sizeof(Known);
}

UserRules::Known UserRules::look_up(ImageAddr address) {
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
