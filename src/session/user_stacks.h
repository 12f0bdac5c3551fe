#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/stack.h"
#include "guestos/process_updates.h"
#include "recording/writer.h"
#include "unwind/user/user_unwinder.h"
#include "wire/capture.h"

namespace ringside::session {

// The guest's processes as the recording has them: writes their images and names, and unwinds user
// code. Belongs to the thread that unwinds.
class UserStacks {
 public:
  // Bytes of the files that are mapped in the address spaces it was given.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

  // `writer` must outlive it.
  explicit UserStacks(recording::Writer& writer, std::size_t max_bytes = kMaxBytes)
      : writer_(&writer), max_bytes_(max_bytes) {}

  // `time_ns` is from the start of the recording. Errors: those of the writer.
  [[nodiscard]] Result<void> adopt(const guestos::ProcessUpdates& updates, std::uint64_t time_ns);

  // The guest has booted again: no address space is what it was.
  void forget_spaces() { spaces_.clear(); }

  // Whether it was given what is mapped in an address space, and has not forgotten it.
  [[nodiscard]] bool knows(std::uint64_t address_space) const {
    return spaces_.contains(address_space);
  }
  // Whether user code may have entered the kernel from a pc: it is in code that is mapped there,
  // and after a system call behind the instruction for it.
  [[nodiscard]] bool may_enter_from(std::uint64_t address_space, GuestVirt pc,
                                    bool by_system_call) const;
  // The user code's part of a capture; nothing where it has none, or what is mapped at its pc is
  // not known.
  [[nodiscard]] std::optional<Stack> unwind(const wire::Capture& capture,
                                            const guestos::TaskAttribution& attribution);
  // The user code's part that the guest has walked itself; nothing where the capture has none.
  [[nodiscard]] std::optional<Stack> walked(const wire::Capture& capture,
                                            const guestos::TaskAttribution& attribution);

 private:
  struct Space {
    Arch arch = Arch::kUnknown;
    unwind::UserCode code;
    bool is_complete = true;
    std::uint64_t last_use = 0;
  };
  // The ids of images by what owns them, which is not used again while a weak_ptr is there; their
  // addresses may be.
  using Written =
      std::map<std::weak_ptr<const guestos::UserImage>, std::uint32_t, std::owner_less<>>;

  [[nodiscard]] Result<std::uint32_t> write_once(
      const std::shared_ptr<const guestos::UserImage>& image);
  [[nodiscard]] Result<Space> make_space(const guestos::AddressSpaceUpdate& updates);
  // Forgets the files of the address spaces that were used longest ago, so that half of max_bytes_
  // is free.
  void forget_files();

  recording::Writer* writer_;
  std::size_t max_bytes_;
  unwind::UserUnwinder unwinder_;
  Written images_;
  std::size_t new_bytes_ = 0;  // of files, since forget_files()
  std::unordered_map<std::uint64_t, Space> spaces_;
  std::uint64_t uses_ = 0;
};

}  // namespace ringside::session
