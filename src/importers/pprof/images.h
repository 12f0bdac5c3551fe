#pragma once

#include <cstdint>
#include <unordered_map>

#include "importers/format.h"
#include "importers/pprof/messages.h"

namespace ringside::importers::pprof {

// Whether a mapping of that file is of a kernel or of one of its modules: "[kernel.kallsyms]",
// "vmlinux", "ext4.ko".
[[nodiscard]] bool is_kernel_file(std::string_view file);

// The images that a profile's mappings are of, in the recording.
class Images {
 public:
  struct Place {
    std::uint32_t image = 0;
    std::uint32_t mapping = 0;
    bool is_kernel = false;
  };

  // Adds them all. Where the user gives the kernel, its own image stays mapped. Errors: the
  // writer's.
  [[nodiscard]] Result<void> add(const Messages& messages, const ImportOptions& options,
                                 recording::Writer& writer);

  // Null where there is no mapping of that id.
  [[nodiscard]] const Place* find(std::uint64_t mapping) const {
    const auto place = places_.find(mapping);
    return place == places_.end() ? nullptr : &place->second;
  }
  // Whether the profile tells the kernel's code from the rest.
  [[nodiscard]] bool have_kernel() const { return have_kernel_; }

 private:
  std::unordered_map<std::uint64_t, Place> places_;  // by id
  bool have_kernel_ = false;
};

}  // namespace ringside::importers::pprof
