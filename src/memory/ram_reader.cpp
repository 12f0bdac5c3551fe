#include "memory/ram_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace ringside::memory {
namespace {

// Bits of an entry of /proc/PID/pagemap: the page is in the host's memory, or in its swap.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;

}  // namespace

Result<std::size_t> RamBlockReader::read_pages(std::span<const RamOffset> pages,
                                               std::span<std::byte> destination) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto got = read_up_to(pages[i], destination.subspan(i * kRamPage, kRamPage));
    if (!got && i == 0) return tl::unexpected<Error>(got.error());
    if (got.value_or(0) < kRamPage) return i;
  }
  return pages.size();
}

bool ProcessBlock::is_populated(RamOffset offset) {
  if (!pagemap_)
    pagemap_ =
        UniqueFd(::open(fmt::format("/proc/{}/pagemap", process_).c_str(), O_RDONLY | O_CLOEXEC));
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t entry = 0;
  const auto at = static_cast<off_t>((start_ + offset.value) / page * sizeof(entry));
  const bool is_said =
      pagemap_->valid() && ::pread(pagemap_->get(), &entry, sizeof(entry), at) == sizeof(entry);
  return !is_said || (entry & (kPresent | kSwapped)) != 0;
}

Result<std::size_t> ProcessBlock::read_up_to(RamOffset offset, std::span<std::byte> destination) {
  const iovec remote{reinterpret_cast<void*>(start_ + offset.value), destination.size()};
  return read_vector(std::span(&remote, 1), destination);
}

// The system ends at the first page that it cannot read.
Result<std::size_t> ProcessBlock::read_pages(std::span<const RamOffset> pages,
                                             std::span<std::byte> destination) {
  std::array<iovec, IOV_MAX> remote;
  std::size_t done = 0;
  while (done < pages.size()) {
    const std::size_t count = std::min<std::size_t>(pages.size() - done, remote.size());
    for (std::size_t i = 0; i < count; ++i)
      remote[i] = {reinterpret_cast<void*>(start_ + pages[done + i].value), kRamPage};
    RINGSIDE_ASSIGN(const std::size_t got,
                    read_vector(std::span(remote).first(count),
                                destination.subspan(done * kRamPage, count * kRamPage)));
    done += got / kRamPage;
    if (got < count * kRamPage) break;
  }
  return done;
}

Result<std::size_t> ProcessBlock::read_vector(std::span<const iovec> remote,
                                              std::span<std::byte> destination) const {
  const iovec local{destination.data(), destination.size()};
  const ssize_t got = ::process_vm_readv(process_, &local, 1, remote.data(), remote.size(), 0);
  if (got >= 0) return static_cast<std::size_t>(got);
  if (errno == EFAULT) return 0;
  if (errno == ESRCH) return fail(ErrorCode::kClosed, "the guest's process {} has ended", process_);
  return fail(ErrorCode::kIo, "cannot read the memory of process {}: {}", process_,
              strerror(errno));
}

Result<std::size_t> FileBlock::read_up_to(RamOffset offset, std::span<std::byte> destination) {
  const ssize_t got = ::pread(file_.get(), destination.data(), destination.size(),
                              static_cast<off_t>(start_ + offset.value));
  if (got < 0)
    return fail(ErrorCode::kIo, "cannot read the file of the guest's memory: {}", strerror(errno));
  return static_cast<std::size_t>(got);
}

Result<std::size_t> RamMemory::read_up_to(GuestPhys address, std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const auto piece = find_ram(ranges_, address + done, destination.size() - done);
    RamBlockReader* const block = piece ? blocks_[piece->block].get() : nullptr;
    if (!piece || (block == nullptr && rest_ == nullptr)) {
      missed_ = true;
      break;
    }
    const auto into = destination.subspan(done, piece->bytes);
    RINGSIDE_ASSIGN(const std::size_t got, block != nullptr
                                               ? block->read_up_to(RamOffset{piece->offset}, into)
                                               : rest_->read_up_to(address + done, into));
    done += got;
    if (got < piece->bytes) break;
  }
  return done;
}

std::optional<RamPiece> RamMemory::find_page(GuestPhys page) const {
  const auto piece = find_ram(ranges_, page, kRamPage);
  if (!piece || piece->bytes < kRamPage || blocks_[piece->block] == nullptr) return std::nullopt;
  return piece;
}

Result<std::size_t> RamMemory::read_pages(std::span<const GuestPhys> pages,
                                          std::span<std::byte> destination) {
  std::vector<RamOffset> offsets;  // of one block's
  std::size_t done = 0;
  while (done < pages.size()) {
    const auto first = find_page(pages[done]);
    if (!first) {
      missed_ = true;
      break;
    }
    offsets.clear();
    for (const GuestPhys page : pages.subspan(done)) {
      const auto piece = find_page(page);
      if (!piece || piece->block != first->block) break;
      offsets.push_back(RamOffset{piece->offset});
    }
    const auto got =
        blocks_[first->block]->read_pages(offsets, destination.subspan(done * kRamPage));
    if (!got && done == 0) return tl::unexpected<Error>(got.error());
    done += got.value_or(0);
    if (got.value_or(0) < offsets.size()) break;
  }
  return done;
}

}  // namespace ringside::memory
