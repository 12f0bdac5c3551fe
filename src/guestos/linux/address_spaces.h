#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "guestos/adapter_options.h"
#include "guestos/guest_memory.h"
#include "guestos/linux/current_task.h"
#include "guestos/linux/user_images.h"
#include "guestos/process_news.h"

namespace ringside::guestos {

// The address spaces of a Linux guest's processes, each with the code that is mapped in it. One
// that maps other code than before is another one from then on.
class LinuxAddressSpaces {
 public:
  LinuxAddressSpaces(const LinuxTypes& types, UserImages images,
                     std::shared_ptr<AddressSpaceIds> ids)
      : types_(types), images_(std::move(images)), ids_(std::move(ids)) {}

  // The number of a task's address space; what is new is added to `news`. 0 where it could not be
  // read: its process has ended since the capture, or is in the middle of a change. Errors: those
  // of `memory`.
  [[nodiscard]] Result<std::uint64_t> find(const TaskView& task, const wire::Capture& capture,
                                           GuestMemory& memory, ProcessNews& news);

 private:
  using Key = std::array<std::uint64_t, 5>;  // TaskView::space
  struct Known {
    std::uint64_t id = 0;  // 0: not read yet
    unsigned tries = 0;
    std::uint64_t last_use = 0;
  };

  [[nodiscard]] Result<std::optional<AddressSpaceNews>> read(const TaskView& task,
                                                             const wire::Capture& capture,
                                                             GuestMemory& memory);
  [[nodiscard]] Result<bool> is_unchanged(const Key& key, GuestMemory& memory) const;

  LinuxTypes types_;
  UserImages images_;
  std::shared_ptr<AddressSpaceIds> ids_;
  std::map<Key, Known> known_;
  std::uint64_t uses_ = 0;
};

}  // namespace ringside::guestos
