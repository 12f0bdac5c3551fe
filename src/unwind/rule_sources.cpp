#include "unwind/rule_sources.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::unwind {
namespace {

constexpr std::size_t kMaxKnown = 16384;

}  // namespace

RuleSources::RuleSources(const elf::ImageMap& images, const arch::ArchInfo& platform, TableUse use)
    : images_(images),
      platform_(platform),
      use_(use),
      code_(make_code_stepper(platform.id, images)) {}

void RuleSources::set_entries(std::vector<TrapFrameLayout> entries, std::vector<ReturnHook> hooks) {
  hooks_ = std::move(hooks);
  entries_ = std::move(entries);
  std::sort(entries_.begin(), entries_.end(),
            [](const TrapFrameLayout& a, const TrapFrameLayout& b) { return a.start < b.start; });
  known_.clear();
}

bool RuleSources::refresh() {
  if (generation_ == images_.generation()) return false;
  generation_ = images_.generation();
  known_.clear();
  called_.clear();
  std::erase_if(tables_, [this](const auto& tables) {
    return std::none_of(images_.images().begin(), images_.images().end(),
                        [&](const elf::Image& image) { return image.id == tables.first; });
  });
  code_->forget();
  return true;
}

RuleSources::Tables& RuleSources::tables_of(const elf::Image& image) {
  auto& tables = tables_[image.id];
  if (!tables) {
    tables = std::make_unique<Tables>();
    if (use_.orc && platform_.id == Arch::kX86_64) tables->orc = orc::Table::from_elf(*image.file);
  }
  return *tables;
}

cfi::Table* RuleSources::cfi_of(const elf::Image& image, Tables& tables) {
  if (use_.cfi && !tables.cfi) tables.cfi = std::make_unique<cfi::Table>(image.file, platform_);
  return tables.cfi.get();
}

const TrapFrameLayout* RuleSources::entry_at(CodeAddress at) const {
  const GuestVirt pc = at.address;
  auto after =
      std::upper_bound(entries_.begin(), entries_.end(), pc,
                       [](GuestVirt to, const TrapFrameLayout& e) { return to < e.start; });
  if (after == entries_.begin()) return nullptr;
  --after;
  const bool says = pc < after->end && !(at.exact && after->calls_only);
  return says ? &*after : nullptr;
}

CompactRule RuleSources::compact_at(CodeAddress at) {
  if (hook_around(at.lookup()) != nullptr || (!at.exact && hook_at(at.address) != nullptr))
    return {.kind = CompactRule::Kind::kSlow, .source = FrameSource::kInstructions};
  const elf::Image* image = images_.find_code(at.lookup());
  if (image == nullptr) return {};
  if (!at.exact && is_written_by_code(at.address))
    return {.kind = CompactRule::Kind::kSlow, .source = FrameSource::kInstructions};
  const TrapFrameLayout* entry = entry_at(at);
  if (entry != nullptr && entry->overrides) return compact(rule_of(*entry, platform_), platform_);
  Tables& tables = tables_of(*image);
  const ImageAddr pc = image->to_image(at.lookup());
  if (tables.orc)
    if (const CompactRule rule = tables.orc->find_compact(pc);
        rule.kind != CompactRule::Kind::kNone)
      return rule;
  if (entry != nullptr) return compact(rule_of(*entry, platform_), platform_);
  if (cfi::Table* cfi = cfi_of(*image, tables))
    if (const CompactRule rule = cfi->find_compact(pc); rule.kind != CompactRule::Kind::kNone) {
      const bool is_handler =
          rule.kind == CompactRule::Kind::kCall && code_->returns_from_interrupt(*image, pc);
      if (!is_handler) return rule;
      return {.kind = CompactRule::Kind::kSlow, .source = FrameSource::kInterruptFrame};
    }
  const CodeRule code = code_->rule_at(*image, at.lookup());
  if (code.rule && !code.interrupt_code) return compact(*code.rule, platform_);
  return code_->exit_rule_at(*image, code, at.address);
}

RuleSources::Known& RuleSources::known_at(CodeAddress at) {
  if (known_.size() >= kMaxKnown && !known_.contains(at.key())) known_.clear();
  const auto [found, added] = known_.try_emplace(at.key());
  Known& known = found->second;
  if (!added) return known;
  known.image = images_.find_code(at.lookup());
  const TrapFrameLayout* entry = entry_at(at);
  const auto add_entry = [&] { known.tables.push_back({rule_of(*entry, platform_), {}}); };
  if (known.image == nullptr) {
    if (entry != nullptr) add_entry();
    return known;
  }
  if (entry != nullptr && entry->overrides) add_entry();
  Tables& tables = tables_of(*known.image);
  const ImageAddr pc = known.image->to_image(at.lookup());
  if (tables.orc)
    if (const auto rule = tables.orc->find(pc)) known.tables.push_back({*rule, {}});
  if (entry != nullptr && !entry->overrides) add_entry();
  if (const cfi::Table* cfi = cfi_of(*known.image, tables))
    if (const auto row = cfi->find(pc)) {
      known.tables.push_back({row->rule, {row->section, known.image->load_bias}});
      known.is_handler = !row->rule.signal_frame && code_->returns_from_interrupt(*known.image, pc);
    }
  return known;
}

bool RuleSources::starts_stack(GuestVirt address) const {
  const TrapFrameLayout* entry = entry_at({address, false});
  return entry != nullptr && entry->start == address &&
         entry->below == TrapFrameLayout::Below::kNothing;
}

// Where there are no bytes of the code, a call may be in front of the address.
bool RuleSources::is_written_by_code(GuestVirt address) const {
  const elf::Image* image = images_.find_code(address);
  if (image == nullptr) return false;
  const ImageAddr at = image->to_image(address);
  if (image->file->bytes_at(at, 1).empty()) return false;
  return !code_->follows_call(*image, at) && entry_at({address, false}) == nullptr &&
         code_->function_start(*image, at) == at;
}

const ReturnHook* RuleSources::hook_at(GuestVirt return_address) const {
  const auto found = std::find_if(hooks_.begin(), hooks_.end(), [&](const ReturnHook& hook) {
    return hook.start == return_address;
  });
  return found == hooks_.end() ? nullptr : &*found;
}

const ReturnHook* RuleSources::hook_around(GuestVirt pc) const {
  const auto found = std::find_if(hooks_.begin(), hooks_.end(), [&](const ReturnHook& hook) {
    return hook.start <= pc && pc < hook.end;
  });
  return found == hooks_.end() ? nullptr : &*found;
}

bool RuleSources::may_be_called(const elf::Image& image, ImageAddr function) {
  const auto [known, added] = called_.try_emplace(image.to_guest(function).value);
  if (added) known->second = code_->may_be_called(image, function);
  return known->second;
}

const CodeRule& RuleSources::code_of(Known& known, CodeAddress at) {
  if (!known.has_code && known.image != nullptr)
    known.code = code_->rule_at(*known.image, at.lookup());
  known.has_code = true;
  return known.code;
}

}  // namespace ringside::unwind
