#include "guestos/user_interrupts/other_entries.h"

#include "arch/arch_info.h"

namespace ringside::guestos {

OtherEntries::OtherEntries(const elf::Image& kernel, std::span<const KernelEntry> gates)
    : kernel_(kernel) {
  if (!arch::info_of(kernel.file->arch()).is_x86) return;
  pushed_.emplace(*kernel.file);
  for (const KernelEntry& gate : gates) {
    if (!gate.is_interrupts) continue;  // some kernels push 0 where hardware pushes an error code
    const ConstantRun run = pushed_->run_at(kernel.to_image(gate.address));
    if (run.values.empty() || gate.pushed.size() < run.values.size()) continue;
    const std::int64_t place = gate.pushed[run.values.size() - 1].offset;
    const auto [known, is_new] = last_places_.try_emplace(run.goes_to, place);
    if (!is_new && known->second != place) known->second.reset();
  }
}

KernelEntry OtherEntries::at(ImageAddr from) {
  if (!pushed_) return {.address = kernel_.to_guest(from)};
  const ConstantRun run = pushed_->run_before(from);
  return {.address = kernel_.to_guest(run.begin), .pushed = words_of(run)};
}

std::vector<PushedWord> OtherEntries::words_of(const ConstantRun& run) const {
  const auto known = last_places_.find(run.goes_to);
  if (run.values.empty() || known == last_places_.end() || !known->second) return {};
  const std::int64_t word = arch::roles_of(kernel_.file->arch()).pointer_size;
  const auto size = static_cast<std::int64_t>(run.values.size()) * word;
  const std::int64_t missing = -*known->second - size;
  const bool is_hardwares =
      run.begins == ConstantRun::Begins::kEntered && (missing == 0 || missing == word);
  if (!is_hardwares && (run.begins != ConstantRun::Begins::kBehindPc || missing != 0)) return {};
  std::vector<PushedWord> words;
  std::int64_t offset = -missing;  // hardware may have pushed an error code
  for (const std::uint64_t value : run.values) {
    offset -= word;
    words.push_back({.from = PushedWord::From::kUserPc, .offset = offset, .value = value});
  }
  return words;
}

}  // namespace ringside::guestos
