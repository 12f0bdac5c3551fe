#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "guestos/guest_memory.h"
#include "guestos/linux/current_task.h"
#include "guestos/linux/guest_file.h"
#include "guestos/linux/mappings.h"
#include "guestos/linux/page_frames.h"
#include "guestos/linux/types.h"
#include "guestos/process_news.h"

namespace ringside::guestos {

// The programs and libraries of a Linux guest: from its files on the host (--sysroot), or from its
// page cache, which holds what was read of a file since the guest booted; of a file in an initramfs
// that is all. Each file is read once.
class UserImages {
 public:
  // `sysroot` may be empty. `kernel` must outlive it.
  UserImages(const elf::Image& kernel, const LinuxTypes& types, std::filesystem::path sysroot);

  // The image that an executable mapping of a task belongs to; null where it has no file, or the
  // file is gone. Errors: those of `memory`.
  [[nodiscard]] Result<std::shared_ptr<const UserImage>> find(const LinuxMapping& mapping,
                                                              const TaskView& task,
                                                              GuestMemory& memory);
  // Of a file that find() has seen mapped; null for others.
  [[nodiscard]] std::shared_ptr<const UserImage> known(const FileIdentity& file) const;

 private:
  [[nodiscard]] Result<std::shared_ptr<const UserImage>> find_vdso(const LinuxMapping& mapping,
                                                                   GuestVirt pgd,
                                                                   GuestMemory& memory);
  [[nodiscard]] Result<std::shared_ptr<const UserImage>> make(const GuestFile& file,
                                                              const KernelReader& read,
                                                              GuestVirt task, GuestMemory& memory);
  // From the page cache; null where it is not there, or no ELF file.
  [[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> in_guest(const GuestFile& file,
                                                                     const KernelReader& read,
                                                                     GuestVirt task,
                                                                     GuestMemory& memory);
  // Null where there is no such file, or it is another one.
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> on_host(const GuestFile& file,
                                                            const elf::ElfFile* in_guest) const;

  const elf::Image* kernel_;
  LinuxTypes types_;
  std::filesystem::path sysroot_;
  std::optional<PageFrames> frames_;  // once they were found
  std::map<FileIdentity, std::shared_ptr<const UserImage>> files_;
  std::vector<std::shared_ptr<const UserImage>> vdsos_;  // 64 and 32 bits
};

}  // namespace ringside::guestos
