#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "findings/facts.h"
#include "session/kernel/code_aliases.h"
#include "session/kernel/kernel_level.h"
#include "session/kernel/kernel_search.h"
#include "session/kernel/reboot_watch.h"
#include "session/kernel/unknown_code.h"
#include "unwind/trap_frame_layout.h"

namespace ringside::session {

// Information for the unwinder and the recording on the kernel that was found.
struct KernelUpdate {
  elf::Image image;
  std::vector<unwind::TrapFrameLayout> entries;
  std::vector<unwind::ReturnHook> hooks;
  guestos::InterruptCode interrupts;
  std::string system;         // the adapter's name
  bool is_candidate = false;  // a file that nobody has named: one of KernelRequest::candidates
};

// Waits for the kernel to run, finds out which it is and where, chooses the guest-OS adapter for it
// and lets that read what it needs, again and again until nothing is missing. From then on asks it
// every second what code the kernel has loaded. Belongs to the thread that samples, which owns the
// engine.
class KernelWatch {
 public:
  KernelWatch(KernelRequest request, Arch machine);

  // The guest has booted again.
  struct Reboot {
    bool kernel_is_gone = false;  // from its place; else it may have booted at the same place
  };
  struct PollResult {
    std::optional<Reboot> reboot;                // before what follows
    std::shared_ptr<const KernelUpdate> kernel;  // found just now
    // The kernel's modules, and its code where it runs at another address; code of no known kernel.
    std::vector<elf::Image> code;
    // Determined just now, of the kernel that was found last.
    std::shared_ptr<const guestos::UserInterrupts> user_interrupts;
    bool new_recipes = false;
  };
  // Looks at a tick, and settles the privilege levels of its captures. `now_ns` is of any clock
  // that goes on with the guest.
  [[nodiscard]] Result<PollResult> poll(engines::Engine& engine, engines::Tick& tick,
                                        std::uint64_t now_ns);
  // The adapter for the kernel that was found; before that, one for the machine only. poll() may
  // replace it.
  [[nodiscard]] guestos::Adapter& adapter() { return *adapter_; }
  [[nodiscard]] const guestos::Adapter& adapter() const { return *adapter_; }

  [[nodiscard]] bool has_file() const { return search_.request().file != nullptr; }
  // Null before the kernel was found.
  [[nodiscard]] const FoundKernel* kernel() const { return kernel_ ? &*kernel_ : nullptr; }
  // Which kernel the guest was found to run, if any.
  void add_facts(findings::GuestFacts& facts) const;
  // The first sentence that they prove where the kernel's code has run; empty where all is well.
  [[nodiscard]] std::string explain() const;

 private:
  [[nodiscard]] bool may_run_kernel(const wire::Capture& capture) const;
  [[nodiscard]] const wire::Capture* find_kernel_code(const engines::Tick& tick) const;
  [[nodiscard]] const wire::Capture* find_caller(engines::Engine& engine,
                                                 const engines::Tick& tick);
  [[nodiscard]] Result<void> probe_kernel(engines::Engine& engine, const wire::Capture& running,
                                          VirtualMemory& memory, std::uint64_t now_ns,
                                          PollResult& seen);
  [[nodiscard]] Result<void> probe_entries(engines::Engine& engine, const wire::Capture& running,
                                           VirtualMemory& memory, std::uint64_t now_ns);
  void forget_entries();
  [[nodiscard]] Result<void> find(const wire::Capture& running, VirtualMemory& memory);
  [[nodiscard]] Result<std::optional<FoundKernel>> find_left(const wire::Capture& running,
                                                             VirtualMemory& memory);
  [[nodiscard]] bool may_be_loading() const;
  void probe_user_code(const engines::Tick& tick);
  [[nodiscard]] Result<void> probe_reboot(engines::Engine& engine, const engines::Tick& tick,
                                          std::uint64_t now_ns);
  [[nodiscard]] Result<void> probe_later_boot(const wire::Capture& running, VirtualMemory& memory);
  void start_over();
  [[nodiscard]] Result<PollResult> poll_parts(engines::Engine& engine, engines::Tick& tick,
                                              std::uint64_t now_ns);
  void settle(const engines::Engine& engine, engines::Tick& tick);
  // Puts the kernel that was found into `polled`, which may be an error.
  void report_kernel(Result<PollResult>& polled);
  [[nodiscard]] Result<PollResult> poll_kernel(engines::Engine& engine, const engines::Tick& tick,
                                               std::uint64_t now_ns);
  void probe_aliases(engines::Engine& engine, const engines::Tick& tick, PollResult& seen);
  // Looks for the file of code that the kernel which was found has loaded, then it was a boot
  // loader, and keeps code of which no file is known.
  [[nodiscard]] Result<void> probe_unknown(engines::Engine& engine, const engines::Tick& tick,
                                           std::uint64_t now_ns, PollResult& seen);
  [[nodiscard]] Result<void> probe_other(GuestVirt pc, VirtualMemory& memory, std::uint64_t now_ns);
  [[nodiscard]] bool runs_unknown_code(const wire::Capture& capture) const;
  [[nodiscard]] Result<void> adopt(FoundKernel found);
  [[nodiscard]] bool is_of_a_file(GuestVirt pc) const;

  Arch machine_;
  KernelSearch search_;
  wire::Capture caller_;  // of firmware, for find_caller()
  KernelLevel level_;
  RebootWatch reboot_watch_;      // since the kernel was found
  std::optional<Reboot> reboot_;  // not reported yet
  UnknownCode unknown_code_;      // while the kernel's file is not known, or is a loader's
  std::optional<FoundKernel> kernel_;
  elf::ImageMap known_code_;  // the kernel's, once it was found
  CodeAliases aliases_;
  std::unique_ptr<guestos::Adapter> adapter_;
  bool is_reported_ = false;  // kernel_ is in what poll() has given
  bool prepared_ = false;
  std::uint64_t next_try_ns_ = 0;
  std::uint64_t next_code_ns_ = 0;     // when to look for new modules
  std::uint64_t next_other_ns_ = 0;    // when to look for a kernel that this one has loaded
  std::uint64_t next_entries_ns_ = 0;  // when to look for the kernel's entries
  std::uint64_t entries_interval_ns_;
  std::shared_ptr<const guestos::UserInterrupts> user_interrupts_;  // of kernel_, not reported yet
  std::uint64_t other_patience_ns_;
  std::uint64_t patience_ns_;
  unsigned tries_ = 0;
  std::optional<unsigned> tries_with_user_code_;  // since some was seen
};

// True if the capture runs code of one of the images in kernel mode.
[[nodiscard]] bool runs_kernel(const wire::Capture& capture, const elf::ImageMap& images);

}  // namespace ringside::session
