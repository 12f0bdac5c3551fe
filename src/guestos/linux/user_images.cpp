#include "guestos/linux/user_images.h"

#include <algorithm>

#include "guestos/linux/page_cache_file.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kMaxVdso = 256 * 1024;

std::string file_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool have_same_build_id(const elf::ElfFile& a, const elf::ElfFile& b) {
  const Bytes one = a.build_id();
  const Bytes other = b.build_id();
  return !one.empty() && std::equal(one.begin(), one.end(), other.begin(), other.end());
}

std::shared_ptr<const UserImage> make_image(std::string name, std::string path,
                                            std::shared_ptr<const elf::ElfFile> file,
                                            bool from_guest) {
  return std::make_shared<UserImage>(
      UserImage{std::move(name), std::move(path), std::move(file), from_guest});
}

}  // namespace

UserImages::UserImages(const elf::Image& kernel, const LinuxTypes& types,
                       std::filesystem::path sysroot)
    : kernel_(&kernel), types_(types), sysroot_(std::move(sysroot)) {}

Result<std::shared_ptr<const UserImage>> UserImages::find(const LinuxMapping& mapping,
                                                          const TaskView& task,
                                                          GuestMemory& memory) {
  if (mapping.name == "[vdso]") return find_vdso(mapping, {task.space[1]}, memory);
  if (mapping.file.value == 0) return nullptr;
  const KernelReader read(memory, types_.arch);
  const auto file = read_guest_file(types_, read, mapping.file);
  if (!file && is_of_memory(file.error().code)) return nullptr;
  if (!file) return tl::unexpected(file.error());
  if (auto image = known(file->identity)) return image;
  RINGSIDE_ASSIGN(auto image, make(*file, read, task.task, memory));
  files_.emplace(file->identity, image);
  return image;
}

std::shared_ptr<const UserImage> UserImages::known(const FileIdentity& file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? nullptr : found->second;
}

// The kernel has few, each of which is the same in all processes; a process may not have touched
// its last pages. Read by the process's own page tables, for a vCPU that switches to it still has
// others.
Result<std::shared_ptr<const UserImage>> UserImages::find_vdso(const LinuxMapping& mapping,
                                                               GuestVirt pgd, GuestMemory& memory) {
  std::vector<std::byte> bytes(std::min(mapping.end - mapping.start, kMaxVdso));
  RINGSIDE_ASSIGN(const std::size_t got, memory.read_process(pgd, mapping.start, bytes));
  const auto start = Bytes(bytes).first(got);
  for (const auto& known : vdsos_) {
    const Bytes content = known->file->file_bytes();
    if (got >= types_.page_size && content.size() == bytes.size() &&
        std::equal(start.begin(), start.end(), content.begin()))
      return known;
  }
  if (got < bytes.size()) return nullptr;
  auto file = elf::ElfFile::from_bytes(std::move(bytes), mapping.name);
  if (!file) return nullptr;
  return vdsos_.emplace_back(make_image(mapping.name, {}, std::move(*file), true));
}

std::shared_ptr<const elf::ElfFile> UserImages::on_host(const GuestFile& file,
                                                        const elf::ElfFile* in_guest) const {
  if (sysroot_.empty()) return nullptr;
  auto opened = elf::ElfFile::open(sysroot_ / file.path.substr(file.path.find_first_not_of('/')));
  if (!opened) return nullptr;
  if (in_guest != nullptr && !have_same_build_id(**opened, *in_guest)) return nullptr;
  return *opened;
}

Result<std::shared_ptr<const elf::ElfFile>> UserImages::in_guest(const GuestFile& file,
                                                                 const KernelReader& read,
                                                                 GuestVirt task,
                                                                 GuestMemory& memory) {
  // What is missing now may be there for the next file.
  const auto missing = [](const Error& error) {
    return is_of_memory(error.code) || error.code == ErrorCode::kUnsupported;
  };
  if (memory.physical() == nullptr) return nullptr;
  if (!frames_) {
    auto found = PageFrames::find(types_, *kernel_, memory, task);
    if (!found && missing(found.error())) return nullptr;
    if (!found) return tl::unexpected(found.error());
    frames_ = *found;
  }
  auto cached = read_cached_file(types_, read, *frames_, *memory.physical(), file);
  if (!cached && missing(cached.error())) return nullptr;
  if (!cached) return tl::unexpected(cached.error());
  auto opened = elf::ElfFile::from_bytes(std::move(cached->bytes), file_name(file.path));
  if (!opened) return nullptr;
  return std::move(*opened);
}

Result<std::shared_ptr<const UserImage>> UserImages::make(const GuestFile& file,
                                                          const KernelReader& read, GuestVirt task,
                                                          GuestMemory& memory) {
  RINGSIDE_ASSIGN(auto in_memory, in_guest(file, read, task, memory));
  // The host's may have what was stripped from the guest's.
  if (auto host = on_host(file, in_memory.get()))
    return make_image(file_name(file.path), file.path, std::move(host), false);
  return make_image(file_name(file.path), file.path, std::move(in_memory), true);
}

}  // namespace ringside::guestos
