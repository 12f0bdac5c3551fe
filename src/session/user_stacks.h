#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/stack.h"
#include "guestos/process_news.h"
#include "recording/writer.h"
#include "unwind/user_unwinder.h"
#include "wire/capture.h"

namespace ringside::session {

// The guest's processes as the recording has them: writes their images and names, and unwinds user
// code. Belongs to the thread that unwinds.
class UserStacks {
 public:
  // `writer` must outlive it.
  explicit UserStacks(recording::Writer& writer) : writer_(&writer) {}

  // `time_ns` is from the start of the recording. Errors: those of the writer.
  [[nodiscard]] Result<void> adopt(const guestos::ProcessNews& news, std::uint64_t time_ns);

  // Whether it was told what is mapped in an address space, and has not forgotten it.
  [[nodiscard]] bool knows(std::uint64_t address_space) const {
    return spaces_.contains(address_space);
  }
  // The user code's part of a capture; nothing where it has none, or what is mapped at its pc is
  // not known.
  [[nodiscard]] std::optional<Stack> unwind(const wire::Capture& capture,
                                            const guestos::Owner& owner);

 private:
  struct Space {
    Arch arch = Arch::kUnknown;
    unwind::UserCode code;
    bool is_complete = true;
    std::uint64_t last_use = 0;
  };
  // An image is kept, so that its address stands for it.
  struct Written {
    std::uint32_t id = 0;
    std::shared_ptr<const guestos::UserImage> image;
  };

  [[nodiscard]] Result<std::uint32_t> write_once(
      const std::shared_ptr<const guestos::UserImage>& image);
  [[nodiscard]] Result<Space> make_space(const guestos::AddressSpaceNews& news);

  recording::Writer* writer_;
  unwind::UserUnwinder unwinder_;
  std::unordered_map<const guestos::UserImage*, Written> images_;
  std::unordered_map<std::uint64_t, Space> spaces_;
  std::uint64_t uses_ = 0;
};

}  // namespace ringside::session
