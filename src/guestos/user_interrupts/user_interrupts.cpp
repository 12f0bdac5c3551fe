#include "guestos/user_interrupts/user_interrupts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "arch/arch_info.h"
#include "guestos/user_interrupts/other_entries.h"

namespace ringside::guestos {
namespace {

// Other code that leads on to an entry's is an entry, too, and that may have such code in turn.
constexpr int kRounds = 4;

EntrySet interrupts_of(const std::vector<KernelEntry>& entries) {
  EntrySet interrupts;
  for (std::size_t i = 0; i < std::min(entries.size(), kMostEntries); ++i)
    interrupts.set(i, entries[i].is_interrupts);
  return interrupts;
}

CodeOfEntries code_of_entries(const elf::Image& kernel, const std::vector<KernelEntry>& entries) {
  std::vector<ImageAddr> addresses;
  for (const KernelEntry& entry : entries) addresses.push_back(kernel.to_image(entry.address));
  return {*kernel.file, addresses, interrupts_of(entries)};
}

// The word in its place; nothing where that is not determined. Where the entry's code has not
// called anything yet, its stack pointer is still on its way.
std::optional<std::uint64_t> read(const PushedWord& word, const Frame& outermost,
                                  const unwind::UserEntry& user, const wire::Capture& capture) {
  const bool is_from_sp = word.from == PushedWord::From::kStackPointer;
  const std::optional<GuestVirt> from = is_from_sp ? user.kernel_sp : user.pc_slot;
  if (!from || (is_from_sp && outermost.exact)) return std::nullopt;
  const GuestVirt at = *from + static_cast<std::uint64_t>(word.offset);
  if (arch::roles_of(capture.arch).pointer_size == sizeof(std::uint64_t))
    return capture.read<std::uint64_t>(at);
  return capture.read<std::uint32_t>(at);
}

// Entry code whose way back is not followed leaves user code's address for a return address. A
// kernel in the upper half has no code in the lower one. Behind a guess any word may look so.
bool ends_at_user_code(const Stack& stack, Arch arch) {
  if (stack.stop == StopReason::kUserMode) return true;
  const arch::ArchInfo& info = arch::info_of(arch);
  const bool is_guessed =
      std::any_of(stack.frames.begin(), stack.frames.end(),
                  [](const Frame& frame) { return frame.source == FrameSource::kGuess; });
  return stack.stop == StopReason::kBadAddress && !is_guessed && stack.stopped_at.value != 0 &&
         info.in_upper_half(stack.frames.back().address.value) &&
         !info.in_upper_half(stack.stopped_at.value);
}

}  // namespace

UserInterrupts::UserInterrupts(elf::Image kernel, std::vector<KernelEntry> entries)
    : kernel_(std::move(kernel)), entries_(std::move(entries)) {
  code_ = code_of_entries(kernel_, entries_);
  if (code_.leads_anywhere()) code_ = {};
  OtherEntries others(kernel_, entries_);
  for (int round = 0; round < kRounds && !code_.other_ways().empty(); ++round) {
    if (entries_.size() + code_.other_ways().size() > kMostEntries) break;
    for (const ImageAddr from : code_.other_ways()) entries_.push_back(others.at(from));
    code_ = code_of_entries(kernel_, entries_);
  }
  interrupts_ = interrupts_of(entries_);
}

EntrySet UserInterrupts::with_pushed_words(EntrySet entries, const Frame& outermost,
                                           const unwind::UserEntry& user,
                                           const wire::Capture& capture) const {
  for (std::size_t i = 0; i < std::min(entries_.size(), kMostEntries); ++i) {
    if (!entries[i]) continue;
    const auto& words = entries_[i].pushed;
    const bool is_there = std::all_of(words.begin(), words.end(), [&](const PushedWord& word) {
      const auto found = read(word, outermost, user, capture);
      return !found || *found == word.value;
    });
    entries.set(i, is_there);
  }
  return entries;
}

void UserInterrupts::mark(const wire::Capture& capture, Stack& stack,
                          const std::function<unwind::UserEntry()>& user_entry) const {
  if (stack.frames.empty() || !ends_at_user_code(stack, capture.arch)) return;
  EntrySet entries = code_.entries_at(kernel_.to_image(stack.frames.back().lookup_address()));
  if ((entries & interrupts_).none()) return;
  if (!is_interrupts(entries)) {
    entries = with_pushed_words(entries, stack.frames.back(), user_entry(), capture);
    if (!is_interrupts(entries)) return;
  }
  for (Frame& frame : stack.frames)
    if (is_kernel(frame.kind)) frame.kind = FrameKind::kInterrupt;
}

}  // namespace ringside::guestos
