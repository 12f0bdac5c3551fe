#include "disk_image/partitions.h"

#include <blkid/blkid.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "disk_image/byte_text.h"

namespace ringside::disk_image {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // libblkid's unit, whatever the disk's is

struct FreeProbe {
  void operator()(blkid_probe probe) const { ::blkid_free_probe(probe); }
};
using Probe = std::unique_ptr<std::remove_pointer_t<blkid_probe>, FreeProbe>;

Result<Probe> probe_of(int fd, std::uint64_t offset, std::uint64_t size, const std::string& name) {
  Probe probe(::blkid_new_probe());
  if (!probe || ::blkid_probe_set_device(probe.get(), fd, static_cast<blkid_loff_t>(offset),
                                         static_cast<blkid_loff_t>(size)) != 0)
    return fail(ErrorCode::kIo, "{}: cannot be examined", name);
  return probe;
}

// A bootable disk of RedoxFS without partitions begins with its boot loader: RedoxFS itself looks
// for its header in the first 65536 blocks.
bool has_redox_header(int fd, const Partition& partition) {
  using namespace std::string_view_literals;
  constexpr std::string_view kSignature = "RedoxFS\0"sv;
  constexpr std::uint64_t kBlockBytes = 4096;
  constexpr std::uint64_t kMostBlocks = 65536;
  std::array<char, kSignature.size()> bytes;
  const std::uint64_t blocks = std::min(partition.size / kBlockBytes, kMostBlocks);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const auto at = static_cast<off_t>(partition.offset + block * kBlockBytes);
    if (::pread(fd, bytes.data(), bytes.size(), at) != static_cast<ssize_t>(bytes.size()))
      return false;
    if (std::string_view(bytes.data(), bytes.size()) == kSignature) return true;
  }
  return false;
}

Result<void> identify(int fd, Partition& partition, const std::string& name) {
  RINGSIDE_ASSIGN(const Probe probe, probe_of(fd, partition.offset, partition.size, name));
  ::blkid_probe_enable_superblocks(probe.get(), 1);
  ::blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL);
  if (::blkid_do_safeprobe(probe.get()) == 0) {
    const char* value = nullptr;
    if (::blkid_probe_lookup_value(probe.get(), "TYPE", &value, nullptr) == 0)
      partition.file_system = value;
    if (::blkid_probe_lookup_value(probe.get(), "LABEL", &value, nullptr) == 0)
      partition.label = value;
  }
  if (partition.file_system.empty() && has_redox_header(fd, partition))
    partition.file_system = kRedoxFs;
  return {};
}

Partition partition_of(blkid_partition entry, std::uint64_t disk_size) {
  Partition partition;
  partition.number = static_cast<unsigned>(::blkid_partition_get_partno(entry));
  partition.offset = static_cast<std::uint64_t>(::blkid_partition_get_start(entry)) * kSectorBytes;
  partition.size = static_cast<std::uint64_t>(::blkid_partition_get_size(entry)) * kSectorBytes;
  partition.is_cut = partition.offset >= disk_size || partition.size > disk_size - partition.offset;
  if (const char* const name = ::blkid_partition_get_name(entry)) partition.label = name;
  return partition;
}

}  // namespace

std::string Partition::to_string() const {
  return fmt::format("{}: {}{}, {}{}", number, file_system.empty() ? "no file system" : file_system,
                     label.empty() ? "" : " '" + label + "'", byte_text(size),
                     is_cut ? " (it ends behind the image)" : "");
}

Result<std::vector<Partition>> find_partitions(int fd, std::uint64_t size,
                                               const std::string& name) {
  std::vector<Partition> found;
  if (size >= kSectorBytes) {
    RINGSIDE_ASSIGN(const Probe probe, probe_of(fd, 0, size, name));
    ::blkid_probe_enable_superblocks(probe.get(), 0);
    ::blkid_probe_enable_partitions(probe.get(), 1);
    blkid_partlist list = ::blkid_do_safeprobe(probe.get()) == 0
                              ? ::blkid_probe_get_partitions(probe.get())
                              : nullptr;
    const int count = list != nullptr ? ::blkid_partlist_numof_partitions(list) : 0;
    for (int i = 0; i < count; ++i) {
      blkid_partition entry = ::blkid_partlist_get_partition(list, i);
      if (entry != nullptr && ::blkid_partition_is_extended(entry) == 0)
        found.push_back(partition_of(entry, size));
    }
  }
  if (found.empty()) found.push_back({.number = 0, .offset = 0, .size = size});
  std::sort(found.begin(), found.end(),
            [](const Partition& a, const Partition& b) { return a.number < b.number; });
  for (Partition& partition : found)
    if (!partition.is_cut && partition.size >= kSectorBytes)
      RINGSIDE_TRY(identify(fd, partition, name));
  return found;
}

}  // namespace ringside::disk_image
