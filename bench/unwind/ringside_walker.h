#pragma once

#include "unwind/unwinder.h"
#include "walker.h"

namespace ringside::bench {

class RingsideWalker final : public Walker {
 public:
  RingsideWalker(const elf::ImageMap& images, unwind::Options options)
      : unwinder_(images, std::move(options)) {}

  // Always walks to the stack's end.
  std::size_t walk(const wire::Capture& capture, std::size_t) override {
    stack_ = unwinder_.unwind(capture);
    return stack_.frames.size();
  }
  [[nodiscard]] std::vector<std::uint64_t> addresses() const override {
    std::vector<std::uint64_t> addresses;
    for (const Frame& frame : stack_.frames) addresses.push_back(frame.address.value);
    return addresses;
  }
  [[nodiscard]] const Stack& stack() const { return stack_; }
  [[nodiscard]] std::uint64_t slow_stacks() const override {
    return unwinder_.statistics().slow_stacks;
  }

 private:
  unwind::Unwinder unwinder_;
  Stack stack_;
};

}  // namespace ringside::bench
