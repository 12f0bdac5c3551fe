#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf/image_map.h"
#include "guestos/adapter.h"
#include "kernel_image/identity.h"
#include "kernel_image/slide.h"
#include "symbols/symbol_list.h"

namespace ringside::session {

using KernelFiles = std::vector<std::shared_ptr<const elf::ElfFile>>;

// Information on the guest's kernel from before it is seen to run.
struct KernelRequest {
  std::shared_ptr<const elf::ElfFile> file;  // null: only the guest's memory is at hand
  // The user says that `file` is the kernel. Otherwise the machine boots it: it may be a loader.
  bool is_given = true;
  // Where no file is given: files of which one may be the kernel, the best for names first.
  KernelFiles candidates = {};
  // Finds more of them, where `file` turns out to be a loader: called once at most, in a thread of
  // its own, since reading folders takes a second. May be empty.
  std::function<KernelFiles()> find_more = {};
  // Functions of a kernel without `file`, where they run; null: none are given.
  std::shared_ptr<const symbols::SymbolList> symbols = nullptr;
  std::optional<std::uint64_t> load_bias = {};  // given by the user; otherwise it is found out
  guestos::AdapterOptions system = {};          // what the user said of the guest's system
  bool no_firmware = false;                     // the machine was started without any
  bool wants_user = true;                       // user code is recorded
  bool has_qemus_firmware = false;              // with QEMU's own, whose mode no kernel runs in
};

// The guest's kernel, where it runs.
struct FoundKernel {
  elf::Image image;
  kernel_image::Identity identity;  // does memory hold that file?
};

// Looks for the guest's kernel, again and again until it is there: what runs in kernel mode early
// on may be a boot loader, or a decompressor.
class KernelSearch {
 public:
  explicit KernelSearch(KernelRequest request);
  ~KernelSearch();
  KernelSearch(const KernelSearch&) = delete;
  KernelSearch& operator=(const KernelSearch&) = delete;

  // One try. `pc` is where a vCPU of this architecture runs in kernel mode; nothing where that is
  // not the kernel that is searched for. A file that turns out to be another kernel's is found,
  // with such an identity. Errors: those of `memory`.
  [[nodiscard]] Result<std::optional<FoundKernel>> poll(Arch arch, GuestVirt pc,
                                                        VirtualMemory& memory);
  // The kernel, if memory is proved to have it and `at` is one of its addresses: the word of a
  // stack, while code runs that is no file's (a BPF program). Errors: those of `memory`.
  [[nodiscard]] Result<std::optional<FoundKernel>> prove(GuestVirt at, VirtualMemory& memory) const;
  // The same, and without a file the kernel that memory has around `at`, an address of its code:
  // looked for only until so much memory was read since the last poll() as a kernel has, so that
  // each poll() with what follows it costs one such search.
  [[nodiscard]] Result<std::optional<FoundKernel>> prove_code(Arch arch, GuestVirt at,
                                                              VirtualMemory& memory);
  // Where code runs at `pc` in kernel mode that is not of `known`, a kernel that was found: another
  // file that has it, which `known` has loaded. Nothing where the kernel's file is given, and until
  // find_more() has returned.
  [[nodiscard]] Result<std::optional<FoundKernel>> poll_other(const elf::ElfFile& known,
                                                              GuestVirt pc, VirtualMemory& memory);
  // The guest has booted again: perhaps another kernel, and at another place. A file that was given
  // is the first of those that are looked for, and any other kernel may be found.
  void start_over();
  // poll() for a kernel of which it is not proved that the one before has gone: only one whose code
  // memory is proved to have. One without a file may be that of a hypervisor's guest: it counts
  // only where the one before had no file that the user has given.
  [[nodiscard]] Result<std::optional<FoundKernel>> poll_later_boot(Arch arch, GuestVirt pc,
                                                                   VirtualMemory& memory);
  // find_more() has been called and has not returned.
  [[nodiscard]] bool is_gathering() const { return more_ != nullptr; }
  // `file` was not given, and has been looked for in vain so often that it may be a loader.
  [[nodiscard]] bool looks_elsewhere() const;
  // The user has named the kernel's file, and it is the guest's first.
  [[nodiscard]] bool is_given() const {
    return request_.file != nullptr && request_.is_given && !is_later_boot_;
  }

  // It is the file that the machine boots, and nobody has named it.
  [[nodiscard]] bool may_be_loader(const FoundKernel& found) const {
    return !request_.is_given && found.image.file == request_.file;
  }

  // Whether the file that is searched for, or one of the candidates, has code at `pc` where it is
  // expected to be.
  [[nodiscard]] bool has_code_at(GuestVirt pc) const;

  // The last look compared memory with the file, and they differed: to look again at once would
  // show no more.
  [[nodiscard]] bool should_wait() const { return compared_; }
  [[nodiscard]] bool has_looked() const { return probed_; }
  // The last file that was compared with memory; nothing where none was.
  [[nodiscard]] const std::optional<kernel_image::Identity>& identity() const { return identity_; }
  [[nodiscard]] const KernelRequest& request() const { return request_; }

 private:
  [[nodiscard]] Result<std::optional<FoundKernel>> probe_file(GuestVirt pc, VirtualMemory& memory);
  [[nodiscard]] Result<std::optional<FoundKernel>> probe_candidate(const elf::ElfFile* but,
                                                                   GuestVirt pc,
                                                                   VirtualMemory& memory) const;
  [[nodiscard]] static Result<std::optional<FoundKernel>> place_candidate(
      const std::shared_ptr<const elf::ElfFile>& file, const kernel_image::SlideVotes& votes,
      GuestVirt pc, VirtualMemory& memory);
  [[nodiscard]] Result<std::optional<FoundKernel>> probe_memory(Arch arch, GuestVirt pc,
                                                                VirtualMemory& memory);
  [[nodiscard]] Result<std::optional<FoundKernel>> at(std::uint64_t load_bias, GuestVirt pc,
                                                      VirtualMemory& memory);

  // find_more()'s files, once they are there.
  void gather_more();

  class Background;
  KernelRequest request_;
  std::unique_ptr<Background> more_;  // while find_more() runs
  unsigned tries_ = 0;
  unsigned misses_ = 0;
  unsigned scans_ = 0;        // what they have cost
  bool has_scanned_ = false;  // as much as a kernel, since the last poll()
  bool is_later_boot_ = false;
  bool has_begun_again_ = false;  // to count what was looked for in vain
  bool probed_ = false;
  bool compared_ = false;
  std::optional<kernel_image::Identity> identity_;  // of the last try
};

}  // namespace ringside::session
