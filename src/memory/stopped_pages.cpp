#include "memory/stopped_pages.h"

#include <algorithm>

namespace ringside::memory {
namespace {

constexpr std::size_t kMostAhead = 256;  // pages

GuestPhys page_of(GuestPhys address) { return address - address.value % kRamPage; }

}  // namespace

std::size_t StoppedPages::find(GuestPhys page) const {
  return static_cast<std::size_t>(std::find(starts_.begin(), starts_.end(), page) -
                                  starts_.begin());
}

void StoppedPages::start(RamMemory& ram) {
  ram_ = &ram;
  missing_.clear();
  for (std::size_t i = 0; i < pages_.size() && missing_.size() < kMostAhead; ++i)
    if (pages_[i].used && pages_[i].slot != kUnreadable) missing_.push_back(starts_[i]);
  // Pages of one block side by side: a call reads those of one.
  std::sort(missing_.begin(), missing_.end());
  if (!missing_.empty()) ahead_ = missing_;
  missing_ = ahead_;
  starts_.clear();
  pages_.clear();
  slots_ = 0;
  read_missing();
}

// A page that cannot be read is remembered as such, and the rest is read without it.
void StoppedPages::read_missing() {
  std::span<const GuestPhys> left(missing_);
  while (!left.empty()) {
    bytes_.resize(std::max(bytes_.size(), (slots_ + left.size()) * kRamPage));
    const std::size_t got =
        ram_->read_pages(left, std::span(bytes_).subspan(slots_ * kRamPage)).value_or(0);
    for (const GuestPhys page : left.first(got)) {
      starts_.push_back(page);
      pages_.push_back({slots_++, false});
    }
    if (got == left.size()) break;
    starts_.push_back(left[got]);
    pages_.push_back({kUnreadable, false});
    left = left.subspan(got + 1);
  }
  missing_.clear();
}

void StoppedPages::fetch(std::span<const GuestPhys> addresses) {
  if (ram_ == nullptr) return;
  missing_.clear();
  for (const GuestPhys address : addresses) {
    const GuestPhys page = page_of(address);
    const bool is_there = find(page) < pages_.size() ||
                          std::find(missing_.begin(), missing_.end(), page) != missing_.end();
    if (!is_there) missing_.push_back(page);
  }
  read_missing();
}

// Null where the page cannot be read.
const std::byte* StoppedPages::use(GuestPhys page) {
  if (ram_ == nullptr) return nullptr;
  std::size_t index = find(page);
  if (index == pages_.size()) fetch(std::span(&page, 1));
  Page& found = pages_[index];
  found.used = true;
  return found.slot == kUnreadable ? nullptr : bytes_.data() + found.slot * kRamPage;
}

Result<std::size_t> StoppedPages::read_up_to(GuestPhys address, std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const GuestPhys at = address + done;
    const std::byte* const page = use(page_of(at));
    if (page == nullptr) break;
    const std::size_t offset = at.value % kRamPage;
    const std::size_t step = std::min(kRamPage - offset, destination.size() - done);
    std::copy_n(page + offset, step, destination.begin() + static_cast<std::ptrdiff_t>(done));
    done += step;
  }
  return done;
}

}  // namespace ringside::memory
