#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf/image_map.h"
#include "guestos/adapter.h"
#include "kernel_image/identity.h"
#include "symbols/symbol_list.h"

namespace ringside::session {

// Information on the guest's kernel from before it is seen to run.
struct KernelRequest {
  std::shared_ptr<const elf::ElfFile> file;  // null: only the guest's memory is at hand
  // Without `file`: files of which one may be the kernel, the best for names first.
  std::vector<std::shared_ptr<const elf::ElfFile>> candidates = {};
  // Functions of a kernel without `file`, where they run; null: none are given.
  std::shared_ptr<const symbols::SymbolList> symbols = nullptr;
  std::optional<std::uint64_t> load_bias;  // given by the user; otherwise it is found out
  guestos::AdapterOptions system = {};     // what the user said of the guest's system
  bool no_firmware = false;                // the machine was started without any
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
  explicit KernelSearch(KernelRequest request) : request_(std::move(request)) {}

  // One try. `pc` is where a vCPU of this architecture runs in kernel mode; nothing where that is
  // not the kernel that is searched for. A file that turns out to be another kernel's is found,
  // with such an identity. Errors: those of `memory`.
  [[nodiscard]] Result<std::optional<FoundKernel>> poll(Arch arch, GuestVirt pc,
                                                        VirtualMemory& memory);

  // Whether the file that is searched for, or one of the candidates, has code at `pc` where it is
  // expected to be.
  [[nodiscard]] bool has_code_at(GuestVirt pc) const;

  // The last look compared memory with the file, and they differed: to look again at once would
  // shows no more.
  [[nodiscard]] bool should_wait() const { return compared_; }
  // Why nothing was found so far, as a sentence for people; empty before the first look.
  [[nodiscard]] std::string explain() const;
  [[nodiscard]] const KernelRequest& request() const { return request_; }

 private:
  [[nodiscard]] Result<std::optional<FoundKernel>> probe_file(GuestVirt pc, VirtualMemory& memory);
  [[nodiscard]] Result<std::optional<FoundKernel>> probe_candidate(GuestVirt pc,
                                                                   VirtualMemory& memory) const;
  [[nodiscard]] static Result<std::optional<FoundKernel>> place_candidate(
      const std::shared_ptr<const elf::ElfFile>& file, GuestVirt pc, VirtualMemory& memory);
  [[nodiscard]] Result<std::optional<FoundKernel>> probe_memory(Arch arch, GuestVirt pc,
                                                                VirtualMemory& memory);
  [[nodiscard]] Result<std::optional<FoundKernel>> at(std::uint64_t load_bias,
                                                      VirtualMemory& memory);

  KernelRequest request_;
  unsigned tries_ = 0;
  unsigned scans_ = 0;
  bool probed_ = false;
  bool compared_ = false;
  std::optional<kernel_image::Identity> identity_;  // of the last try
};

}  // namespace ringside::session
