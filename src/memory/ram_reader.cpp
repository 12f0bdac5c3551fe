#include "memory/ram_reader.h"

#include <sys/uio.h>
#include <unistd.h>

namespace ringside::memory {

Result<std::size_t> ProcessBlock::read_up_to(RamOffset offset, std::span<std::byte> destination) {
  const iovec local{destination.data(), destination.size()};
  const iovec remote{reinterpret_cast<void*>(start_ + offset.value), destination.size()};
  const ssize_t got = ::process_vm_readv(process_, &local, 1, &remote, 1, 0);
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

}  // namespace ringside::memory
