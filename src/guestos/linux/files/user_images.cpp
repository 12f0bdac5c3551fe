#include "guestos/linux/files/user_images.h"

#include <algorithm>

#include "base/least_recent.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kMaxVdso = 256 * 1024;
constexpr std::size_t kMaxVdsos = 8;
// Size that an image without a file counts as, bytes.
constexpr std::size_t kNoFileBytes = 4096;

std::string file_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// Contents of a file of which the size was read, but no byte.
CachedFile nothing_of(const GuestFile& file, std::uint64_t page_size) {
  CachedFile nothing;
  nothing.page_size = page_size;
  nothing.missing = (file.identity.size + page_size - 1) / page_size;
  if (file.identity.size > kMaxCachedFile) return nothing;
  nothing.bytes.resize(file.identity.size);
  nothing.present.resize(nothing.missing);
  return nothing;
}

// As those of the initramfs are: in a tmpfs, whose pages may be swapped out.
bool is_on_no_device(const GuestFile& file) {
  constexpr unsigned kMinorBits = 20;  // include/linux/kdev_t.h
  return file.identity.device >> kMinorBits == 0;
}

// The ELF header and the build id behind it are in a file's first page, which a process has mapped
// whatever became of the page cache. By its own page tables: a vCPU may still have others.
Result<void> add_first_page(CachedFile& cached, GuestVirt header, const TaskView& task,
                            GuestMemory& memory) {
  if (cached.present.empty() || cached.present[0]) return {};
  const auto first =
      std::span(cached.bytes).first(std::min<std::size_t>(cached.bytes.size(), cached.page_size));
  RINGSIDE_ASSIGN(const auto process, memory.process_space({task.space[1]}));
  RINGSIDE_ASSIGN(const std::size_t got, process->read_up_to(header, first));
  if (got < first.size()) {
    std::fill(first.begin(), first.end(), std::byte{0});
    return {};
  }
  cached.present[0] = true;
  --cached.missing;
  return {};
}

std::shared_ptr<const UserImage> make_image(std::string name, std::string path,
                                            std::shared_ptr<const elf::ElfFile> file,
                                            bool from_guest) {
  return std::make_shared<UserImage>(
      UserImage{std::move(name), std::move(path), std::move(file), from_guest});
}

}  // namespace

UserImages::UserImages(const elf::Image& kernel, const LinuxTypes& types, HostFiles host,
                       std::size_t max_bytes)
    : kernel_(&kernel), types_(types), host_(std::move(host)), max_bytes_(max_bytes) {}

Result<std::shared_ptr<const UserImage>> UserImages::find(const LinuxMapping& mapping,
                                                          std::optional<GuestVirt> header,
                                                          const TaskView& task,
                                                          GuestMemory& memory) {
  if (mapping.name == "[vdso]") return find_vdso(mapping, task, memory);
  if (mapping.file.value == 0) return nullptr;
  const KernelReader read(memory.kernel(), types_.arch);
  if (const auto identity = read_file_identity(types_, read, mapping.file))
    if (auto image = known(*identity)) return image;
  const auto file = read_guest_file(types_, read, mapping.file);
  if (!file && is_of_memory(file.error().code)) return nullptr;
  if (!file) return tl::unexpected(file.error());
  if (auto image = known(file->identity)) return image;
  RINGSIDE_ASSIGN(auto image, make(*file, read, header, task, memory));
  const auto bytes_of = [](const Known& known) {
    return known.image->file ? known.image->file->memory_use() : kNoFileBytes;
  };
  files_.emplace(file->identity, Known{image, ++uses_});
  forget_beyond(files_, max_bytes_, bytes_of);
  return image;
}

std::shared_ptr<const UserImage> UserImages::known(const FileIdentity& file) {
  const auto found = files_.find(file);
  if (found == files_.end()) return nullptr;
  found->second.last_use = ++uses_;
  return found->second.image;
}

Result<GuestVirt> UserImages::vdso_image_of(const TaskView& task, const KernelReader& read) const {
  if (!types_.vdso_image) return GuestVirt{0};
  return read.pointer(GuestVirt{task.space[0]} + types_.mm.vdso_image->offset);
}

Result<std::vector<std::byte>> UserImages::kernels_vdso(GuestVirt at, std::size_t size,
                                                        const KernelReader& read) const {
  std::vector<std::byte> bytes;
  if (at.value == 0) return bytes;
  RINGSIDE_ASSIGN(const KernelObject image,
                  read.object(at, types_.vdso_image->bytes, "struct vdso_image"));
  bytes.resize(std::min<std::uint64_t>(image.number(types_.vdso_image->size), size));
  RINGSIDE_ASSIGN(const std::size_t got,
                  read.memory().read_up_to(image.pointer(types_.vdso_image->data), bytes));
  bytes.resize(got);
  return bytes;
}

// The kernel has few, each of which is the same in all processes. Where it does not say where, by
// the process's own page tables, for a vCPU that switches to it still has others; the process may
// not have touched the last pages.
Result<std::shared_ptr<const UserImage>> UserImages::find_vdso(const LinuxMapping& mapping,
                                                               const TaskView& task,
                                                               GuestMemory& memory) {
  const std::size_t size = std::min(mapping.end - mapping.start, kMaxVdso);
  const KernelReader read(memory.kernel(), types_.arch);
  const auto place = vdso_image_of(task, read);
  if (!place && !is_of_memory(place.error().code)) return tl::unexpected<Error>(place.error());
  const GuestVirt at = place.value_or(GuestVirt{0});
  for (const Vdso& known : vdsos_)
    if (at.value != 0 && known.at == at && known.image->file->file_bytes().size() == size)
      return known.image;
  auto kernels = kernels_vdso(at, size, read);
  if (!kernels && !is_of_memory(kernels.error().code))
    return tl::unexpected<Error>(kernels.error());
  std::vector<std::byte> bytes = kernels ? std::move(*kernels) : std::vector<std::byte>();
  std::size_t got = bytes.size();
  if (got < size) {
    bytes.resize(size);
    RINGSIDE_ASSIGN(const auto process, memory.process_space({task.space[1]}));
    RINGSIDE_ASSIGN(got, process->read_up_to(mapping.start, bytes));
  }
  const auto start = Bytes(bytes).first(got);
  for (const Vdso& known : vdsos_) {
    const Bytes content = known.image->file->file_bytes();
    if (got >= types_.page_size && content.size() == bytes.size() &&
        std::equal(start.begin(), start.end(), content.begin()))
      return known.image;
  }
  if (got < bytes.size()) return nullptr;
  auto file = elf::ElfFile::from_bytes(std::move(bytes), mapping.name);
  if (!file) return nullptr;
  if (vdsos_.size() == kMaxVdsos) vdsos_.erase(vdsos_.begin());
  return vdsos_.emplace_back(Vdso{at, make_image(mapping.name, {}, std::move(*file), true)}).image;
}

Result<CachedFile> UserImages::in_page_cache(const GuestFile& file, const KernelReader& read,
                                             GuestVirt task, GuestMemory& memory) {
  // Memory that is missing now may be present for the next file.
  const auto missing = [](const Error& error) {
    return is_of_memory(error.code) || error.code == ErrorCode::kUnsupported;
  };
  if (memory.physical() == nullptr) return nothing_of(file, types_.page_size);
  if (!frames_) {
    auto found = PageFrames::find(types_, *kernel_, memory.kernel(), task);
    if (!found && missing(found.error())) return nothing_of(file, types_.page_size);
    if (!found) return tl::unexpected(found.error());
    frames_ = *found;
  }
  auto cached = read_cached_file(types_, read, *frames_, *memory.physical(), file);
  if (!cached && missing(cached.error())) return nothing_of(file, types_.page_size);
  return cached;
}

Result<std::shared_ptr<const UserImage>> UserImages::make(const GuestFile& file,
                                                          const KernelReader& read,
                                                          std::optional<GuestVirt> header,
                                                          const TaskView& task,
                                                          GuestMemory& memory) {
  RINGSIDE_ASSIGN(CachedFile cached, in_page_cache(file, read, task.task, memory));
  if (header) RINGSIDE_TRY(add_first_page(cached, *header, task, memory));
  const std::string name = file_name(file.path);
  std::shared_ptr<const elf::ElfFile> in_guest;
  if (!cached.whole() && is_on_no_device(file)) in_guest = host_.in_initramfs(file.path, cached);
  if (!in_guest)
    if (auto opened = elf::ElfFile::from_bytes(std::move(cached.bytes), name))
      in_guest = std::move(*opened);
  // The host's may have what was stripped from the guest's.
  if (auto host = host_.in_sysroot(file.path, in_guest.get()))
    return make_image(name, file.path, std::move(host), false);
  return make_image(name, file.path, in_guest, true);
}

}  // namespace ringside::guestos
