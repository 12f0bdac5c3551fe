#pragma once

#include <memory>
#include <optional>

#include "elf/image_map.h"
#include "guestos/linux/files/path_lookup.h"
#include "guestos/linux/tasks/clock.h"
#include "guestos/linux/tasks/process_table.h"
#include "guestos/process_source.h"
#include "symbols/debug_files.h"

namespace ringside::guestos {

// Linux's list of tasks, the arguments in their memory, and /etc/passwd in the page cache.
class LinuxProcessSource final : public ProcessSource {
 public:
  // `kernel` must outlive it. Errors: kUnsupported or kNotFound for a kernel that does not say how
  // it keeps its processes.
  [[nodiscard]] static Result<std::unique_ptr<ProcessSource>> of(
      const elf::Image& kernel, const symbols::DebugFileOptions& debug_files);

  [[nodiscard]] Result<ProcessList> read(const wire::Capture& running,
                                         GuestMemory& memory) const override;
  [[nodiscard]] Result<std::string> arguments(const GuestThread& thread,
                                              GuestMemory& memory) const override;
  [[nodiscard]] Result<UserNames> user_names(const ProcessList& list,
                                             GuestMemory& memory) const override;

 private:
  LinuxProcessSource(const elf::Image& kernel, LinuxTypes types, const ProcessFields& fields)
      : kernel_(&kernel), types_(std::move(types)), fields_(fields) {}
  [[nodiscard]] std::optional<GuestVirt> find_any_task(const wire::Capture& running) const;
  [[nodiscard]] Result<UserNames> read_passwd(GuestVirt task, GuestMemory& memory) const;

  const elf::Image* kernel_;
  LinuxTypes types_;
  ProcessFields fields_;
  std::optional<ClockFields> clock_;
  std::optional<PathLookupFields> paths_;
};

}  // namespace ringside::guestos
