#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "guestos/guest_memory.h"
#include "guestos/linux/files/guest_file.h"
#include "guestos/linux/files/host_files.h"
#include "guestos/linux/files/mappings.h"
#include "guestos/linux/files/page_cache_file.h"
#include "guestos/linux/files/page_frames.h"
#include "guestos/linux/tasks/current_task.h"
#include "guestos/linux/types/linux_types.h"
#include "guestos/process_updates.h"

namespace ringside::guestos {

// The programs and libraries of a Linux guest: from its files on the host (--sysroot), or from its
// page cache, which holds what was read of a file since the guest booted; of a file in an initramfs
// that is all. Each file is read once, unless others have taken its place meanwhile: then it is
// another image.
class UserImages {
 public:
  // Bytes of the files that are kept for the next process.
  static constexpr std::size_t kMaxBytes = 256u << 20;

  // `kernel` must outlive it.
  UserImages(const elf::Image& kernel, const LinuxTypes& types, HostFiles host,
             std::size_t max_bytes = kMaxBytes);

  // The image that an executable mapping of a task belongs to; null where it has no file, or the
  // file is gone. `header` is where the file's first page is mapped, if it is. Errors: those of
  // `memory`.
  [[nodiscard]] Result<std::shared_ptr<const UserImage>> find(const LinuxMapping& mapping,
                                                              std::optional<GuestVirt> header,
                                                              const TaskView& task,
                                                              GuestMemory& memory);
  // The image of a file that find() has seen mapped; null for others, and where it was forgotten.
  [[nodiscard]] std::shared_ptr<const UserImage> known(const FileIdentity& file);
  // As HostFiles has it.
  [[nodiscard]] std::string caveat() const { return host_.caveat(); }

 private:
  struct Known {
    std::shared_ptr<const UserImage> image;
    std::uint64_t last_use = 0;
  };
  struct Vdso {
    GuestVirt at;  // the struct vdso_image, a constant of the kernel; 0: not known
    std::shared_ptr<const UserImage> image;
  };
  [[nodiscard]] Result<std::shared_ptr<const UserImage>> find_vdso(const LinuxMapping& mapping,
                                                                   const TaskView& task,
                                                                   GuestMemory& memory);
  // A task's struct vdso_image; 0 where the kernel does not say that.
  [[nodiscard]] Result<GuestVirt> vdso_image_of(const TaskView& task,
                                                const KernelReader& read) const;
  // `size` bytes of the vDSO that a struct vdso_image is of, or less; nothing where there is none.
  [[nodiscard]] Result<std::vector<std::byte>> kernels_vdso(GuestVirt at, std::size_t size,
                                                            const KernelReader& read) const;
  [[nodiscard]] Result<std::shared_ptr<const UserImage>> make(const GuestFile& file,
                                                              const KernelReader& read,
                                                              std::optional<GuestVirt> header,
                                                              const TaskView& task,
                                                              GuestMemory& memory);
  // The file's bytes in the page cache; none where that cannot be read.
  [[nodiscard]] Result<CachedFile> in_page_cache(const GuestFile& file, const KernelReader& read,
                                                 GuestVirt task, GuestMemory& memory);

  const elf::Image* kernel_;
  LinuxTypes types_;
  HostFiles host_;
  std::optional<PageFrames> frames_;  // once they were found
  std::size_t max_bytes_;
  std::map<FileIdentity, Known> files_;
  std::uint64_t uses_ = 0;
  std::vector<Vdso> vdsos_;  // 64 and 32 bits
};

}  // namespace ringside::guestos
