#pragma once

#include <functional>
#include <utility>

#include "base/memory_reader.h"

namespace ringside::testing {

// Virtual memory whose reads a function answers, as MemoryReader::read_up_to() does.
class FunctionMemory final : public VirtualMemory {
 public:
  using Function = std::function<Result<std::size_t>(GuestVirt, std::span<std::byte>)>;

  explicit FunctionMemory(Function function) : function_(std::move(function)) {}
  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt address,
                                               std::span<std::byte> destination) override {
    return function_(address, destination);
  }

 private:
  Function function_;
};

}  // namespace ringside::testing
