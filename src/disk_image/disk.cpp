#include "disk_image/disk.h"

#include <fcntl.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "disk_image/byte_text.h"
#include "disk_image/temporary_file.h"

namespace ringside::disk_image {
namespace {

constexpr const char* kOtherWays =
    "copy the file out in the running guest: over the network, or to a disk with ext4 or FAT";

// Error where `entry`, which is at `name`, is no file.
Result<void> check_file(const Entry& entry, const std::string& name) {
  switch (entry.kind) {
    case Entry::Kind::kFile:
      return {};
    case Entry::Kind::kNone:
      return fail(ErrorCode::kNotFound, "{}: there is no such file in this file system", name);
    case Entry::Kind::kFolder:
      return fail(ErrorCode::kUnsupported, "{}: this is a folder; name a file in it", name);
    case Entry::Kind::kLink:
      return fail(ErrorCode::kUnsupported, "{}: this is a symbolic link{}; name the file itself",
                  name, entry.target.empty() ? "" : " to " + entry.target);
    case Entry::Kind::kOther:
      break;
  }
  return fail(ErrorCode::kUnsupported, "{}: this is no regular file", name);
}

}  // namespace

std::string Disk::name_of(const Partition& partition) const {
  return partition.number == 0 ? image_.path.string()
                               : fmt::format("{}:{}", image_.path.string(), partition.number);
}

std::string Disk::list() const {
  std::vector<std::string> lines;
  for (const Partition& partition : partitions_) lines.push_back(partition.to_string());
  return fmt::format("its partitions are {}", fmt::join(lines, "; "));
}

Result<Disk> Disk::open(const ImageName& name, Listener listener) {
  RINGSIDE_ASSIGN(ImageFile image, open_image(name.image, listener));
  RINGSIDE_ASSIGN(auto partitions,
                  find_partitions(image.fd.get(), image.size, image.path.string()));
  Disk disk(std::move(image), std::move(partitions), std::move(listener));
  RINGSIDE_TRY(disk.choose(name.partition));
  return disk;
}

Result<void> Disk::choose(std::optional<unsigned> number) {
  const bool has_table = partitions_.front().number != 0;
  if (number && !has_table)
    return fail(ErrorCode::kUsage, "{}: this disk has no partitions: name it without :{}",
                image_.path.string(), *number);
  if (partitions_.size() == 1 && !number) chosen_ = &partitions_.front();
  if (!number) return {};
  const auto found =
      std::find_if(partitions_.begin(), partitions_.end(),
                   [&](const Partition& partition) { return partition.number == *number; });
  if (found == partitions_.end())
    return fail(ErrorCode::kNotFound, "{}: there is no partition {}; {}", image_.path.string(),
                *number, list());
  chosen_ = &*found;
  return {};
}

tl::unexpected<Error> Disk::no_reader(const Partition& partition) const {
  const std::string name = name_of(partition);
  if (partition.is_cut)
    return fail(
        ErrorCode::kFormat,
        "{}: the partition ends at byte {}, and the disk has {} bytes: the image is cut off", name,
        partition.offset + partition.size, image_.size);
  if (partition.file_system == kRedoxFs)
    return fail(
        ErrorCode::kUnsupported,
        "{} holds RedoxFS, whose layout changes with its versions: {}; or mount it with the "
        "program redoxfs of the same version, and import the file by its name",
        name, kOtherWays);
  if (partition.file_system.empty())
    return fail(ErrorCode::kUnsupported,
                "{} holds no file system that is known: leave --path out to import its bytes",
                name);
  return fail(ErrorCode::kUnsupported,
              "{} holds {}, and ringside reads ext2, ext3, ext4 and FAT: {}", name,
              partition.file_system, kOtherWays);
}

Result<FileSystem*> Disk::system_of(const Partition& partition) {
  std::unique_ptr<FileSystem>& system = systems_[partition.number];
  if (!system) {
    RINGSIDE_ASSIGN(system, open_file_system(image_, partition, name_of(partition), listener_));
  }
  return system.get();
}

Result<Disk::Place> Disk::look(const Partition& partition, const std::string& path) {
  if (partition.is_cut || !has_reader(partition)) return no_reader(partition);
  RINGSIDE_ASSIGN(FileSystem* const system, system_of(partition));
  RINGSIDE_ASSIGN(const Entry entry, system->find(path));
  // Its tool would write all of that.
  if (entry.size > partition.size)
    return fail(ErrorCode::kFormat,
                "{}:{}: this file has {} bytes, more than the {} of its file system: the file "
                "system is damaged, or nearly all of the file is a hole",
                name_of(partition), path, entry.size, partition.size);
  return Place{&partition, system, entry};
}

Result<Disk::Place> Disk::look_everywhere(const std::string& path) {
  std::optional<Place> found;
  std::optional<Error> unreadable;  // the first
  for (const Partition& partition : partitions_) {
    if (partition.is_cut || !has_reader(partition)) continue;
    auto place = look(partition, path);
    if (!place && !unreadable) unreadable = place.error();
    if (!place || place->entry.kind == Entry::Kind::kNone) continue;
    if (found)
      return fail(ErrorCode::kUsage,
                  "{0}: partitions {1} and {2} both have {3}: name one as {0}:{1}",
                  image_.path.string(), found->partition->number, partition.number, path);
    found = *place;
  }
  if (found) return *found;
  if (unreadable) return tl::unexpected<Error>(std::move(*unreadable));
  const auto redox =
      std::find_if(partitions_.begin(), partitions_.end(),
                   [](const Partition& partition) { return partition.file_system == kRedoxFs; });
  if (redox != partitions_.end()) return no_reader(*redox);
  return fail(ErrorCode::kNotFound,
              "{}: no partition with ext2, ext3, ext4 or FAT has the file {}; {}",
              image_.path.string(), path, list());
}

Result<DiskFile> Disk::file(const std::string& path) {
  if (path.empty() || path.find('\n') != std::string::npos)
    return fail(ErrorCode::kUsage, "--path '{}': this is no path of a file", path);
  const std::string full = path.front() == '/' ? path : "/" + path;
  RINGSIDE_ASSIGN(const Place place,
                  chosen_ != nullptr ? look(*chosen_, full) : look_everywhere(full));
  const std::string name = name_of(*place.partition) + ":" + full;
  RINGSIDE_TRY(check_file(place.entry, name));
  RINGSIDE_ASSIGN(UniqueFd fd, make_temporary_file());
  RINGSIDE_TRY(check_room(fd.get(), place.entry.size, name));
  RINGSIDE_TRY(place.system->copy(full, place.entry, fd.get()));
  return DiskFile{name, std::move(fd)};
}

Result<DiskFile> Disk::bytes() {
  if (chosen_ == nullptr)
    return fail(ErrorCode::kUsage,
                "{}: this disk has partitions: name the file in one of them with --path; {}",
                image_.path.string(), list());
  const std::string name = name_of(*chosen_);
  if (chosen_->is_cut || chosen_->file_system == kRedoxFs) return no_reader(*chosen_);
  if (!chosen_->file_system.empty())
    return fail(ErrorCode::kUsage, "{} holds {}: name the file in it with --path", name,
                chosen_->file_system);
  if (chosen_->number == 0)
    return DiskFile{name, UniqueFd(::fcntl(image_.fd.get(), F_DUPFD_CLOEXEC, 0))};
  RINGSIDE_ASSIGN(UniqueFd fd, copy_part(image_, chosen_->offset, chosen_->size, name, listener_));
  return DiskFile{name, std::move(fd)};
}

}  // namespace ringside::disk_image
