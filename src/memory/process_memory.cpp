#include "memory/process_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <charconv>

namespace ringside::memory {
namespace {

struct HostMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool readable_and_writable = false;
};

// "7f1c8be00000-7f1cabe00000 rw-p 00000000 00:00 0 …"
std::optional<HostMapping> parse_mapping(std::string_view line) {
  HostMapping mapping;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, mapping.start, 16);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, mapping.end, 16);
  if (second.ec != std::errc{} || mapping.end <= mapping.start) return std::nullopt;
  mapping.readable_and_writable =
      std::string_view(second.ptr, static_cast<std::size_t>(end - second.ptr)).starts_with(" rw");
  return mapping;
}

}  // namespace

std::optional<RamPiece> find_ram(const std::vector<RamRange>& ranges, GuestPhys address,
                                 std::size_t bytes) {
  for (const RamRange& range : ranges) {
    const std::uint64_t within = address - range.start;
    if (within < range.bytes)
      return RamPiece{range.offset + within, static_cast<std::size_t>(std::min<std::uint64_t>(
                                                 bytes, range.bytes - within))};
  }
  return std::nullopt;
}

std::vector<std::uint64_t> block_candidates(std::string_view text, std::uint64_t bytes) {
  std::vector<HostMapping> fitting;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto mapping = parse_mapping(line);
    if (mapping && mapping->readable_and_writable && mapping->end - mapping->start >= bytes)
      fitting.push_back(*mapping);
  }
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const auto& a, const auto& b) { return a.end - a.start < b.end - b.start; });
  std::vector<std::uint64_t> starts;
  for (const HostMapping& mapping : fitting) starts.push_back(mapping.start);
  return starts;
}

Result<std::size_t> ProcessMemory::read_up_to(GuestPhys address, std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const auto piece = find_ram(ranges_, address + done, destination.size() - done);
    if (!piece) break;
    const iovec local{destination.data() + done, piece->bytes};
    const iovec remote{reinterpret_cast<void*>(block_ + piece->offset), piece->bytes};
    const ssize_t got = ::process_vm_readv(process_, &local, 1, &remote, 1, 0);
    if (got < 0 && errno == EFAULT) break;
    if (got < 0 && errno == ESRCH)
      return fail(ErrorCode::kClosed, "the guest's process {} has ended", process_);
    if (got < 0)
      return fail(ErrorCode::kIo, "cannot read the memory of process {}: {}", process_,
                  strerror(errno));
    done += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < piece->bytes) break;
  }
  return done;
}

}  // namespace ringside::memory
