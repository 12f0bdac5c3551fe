#include "memory/page_cache.h"

#include <algorithm>

namespace ringside::memory {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

template <class AddressType>
Result<const std::vector<std::byte>*> PageCache<AddressType>::page_at(AddressType page) {
  if (const auto found = pages_.find(page); found != pages_.end()) return &found->second;
  std::vector<std::byte> bytes(kPage);
  RINGSIDE_ASSIGN(const std::size_t got, source_->read_up_to(page, bytes));
  bytes.resize(got);
  if (pages_.size() >= limit_) pages_.clear();
  return &pages_.insert_or_assign(page, std::move(bytes)).first->second;
}

template <class AddressType>
Result<std::size_t> PageCache<AddressType>::read_up_to(AddressType address,
                                                       std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const AddressType at = address + done;
    const std::uint64_t offset = at.value % kPage;
    RINGSIDE_ASSIGN(const auto* const page, page_at(at - offset));
    if (offset >= page->size()) break;
    const std::size_t step = std::min(page->size() - offset, destination.size() - done);
    std::copy_n(page->begin() + static_cast<std::ptrdiff_t>(offset), step,
                destination.begin() + static_cast<std::ptrdiff_t>(done));
    done += step;
    if (offset + step < kPage && done < destination.size()) break;
  }
  return done;
}

template class PageCache<GuestPhys>;
template class PageCache<GuestVirt>;

}  // namespace ringside::memory
