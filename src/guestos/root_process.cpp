#include "guestos/root_process.h"

#include <algorithm>

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kPollIntervalNs = 100'000'000;
// Pages that are compared when they are first sampled; others are where it is time for a look.
constexpr std::size_t kMostPages = 256;
// A process that ends while it is looked at leaves anything behind: one look is not believed.
constexpr unsigned kEnough = 2;
constexpr unsigned kMostTries = 32;
constexpr unsigned kMostUnreadable = 32;
constexpr std::uint64_t kAround = 32;  // bytes to each side of a pc

GuestVirt page_of(GuestVirt pc) { return {pc.value & ~(kCodePage - 1)}; }

}  // namespace

Result<RootProcess::Update> RootProcess::poll(GuestVirt pc, std::uint64_t now_ns,
                                              ProgramFinder* finder, VirtualMemory& memory) {
  const bool is_new_page =
      finder != nullptr && pages_.size() < kMostPages && !pages_.contains(page_of(pc).value);
  if (now_ns < next_poll_ns_ && !is_new_page) return Update::kNone;
  next_poll_ns_ = now_ns + kPollIntervalNs;
  RINGSIDE_ASSIGN(const bool is_same, is_same_process(memory));
  strikes_ = is_same ? 0 : strikes_ + 1;
  if (!is_same) next_poll_ns_ = now_ns;
  if (!is_same) return strikes_ == kEnough ? Update::kEnded : Update::kNone;
  RINGSIDE_ASSIGN(const auto page, read_code_page(page_of(pc), memory));
  if (!page) {  // each sample tries again at first, then only what is due
    if (++unreadable_ > kMostUnreadable) note_page(pc);
    return Update::kNone;
  }
  remember(pc, *page);
  if (program_) return check_program(pc, *page);
  Update updates = Update::kNone;
  if (finder != nullptr && differences_ == 0 && tries_ < kMostTries) {
    RINGSIDE_ASSIGN(updates, probe_program(pc, *page, *finder, memory));
  }
  // Before the kernel is found there is no finder: it is to look at the next sample.
  if (finder != nullptr) note_page(pc);
  return updates;
}

// Memory that cannot be read does not show another process.
Result<bool> RootProcess::is_same_process(VirtualMemory& memory) {
  std::vector<std::byte> now(seen_.size());
  RINGSIDE_ASSIGN(const std::size_t size, memory.read_up_to(seen_at_, now));
  if (size < now.size()) seen_.clear();
  return size < now.size() || now == seen_;
}

void RootProcess::note_page(GuestVirt pc) {
  if (pages_.size() < kMostPages) pages_.insert(page_of(pc).value);
}

void RootProcess::remember(GuestVirt pc, Bytes page) {
  if (!seen_.empty()) return;
  const std::uint64_t at = pc.value % kCodePage;
  const std::uint64_t from = at - std::min(at, kAround);
  const Bytes around = page.subspan(from, std::min(kCodePage, at + kAround) - from);
  seen_at_ = page_of(pc) + from;
  seen_.assign(around.begin(), around.end());
}

RootProcess::Update RootProcess::check_program(GuestVirt pc, Bytes page) {
  const Fit fit = program_->code->compare(program_->to_image(page_of(pc)), page);
  if (fit != Fit::kDifferent) {
    note_page(pc);
    return Update::kNone;
  }
  if (++differences_ < kEnough) return Update::kNone;
  program_.reset();
  return Update::kProgram;
}

Result<RootProcess::Update> RootProcess::probe_program(GuestVirt pc, Bytes page,
                                                       ProgramFinder& finder,
                                                       VirtualMemory& memory) {
  ++tries_;
  RINGSIDE_ASSIGN(program_, finder.find({pc, page_of(pc), page}, pages_, memory));
  return program_ ? Update::kProgram : Update::kNone;
}

}  // namespace ringside::guestos
