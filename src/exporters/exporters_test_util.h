#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/stack.h"
#include "exporters/sink.h"

namespace ringside::exporters::testing {

// The text that `write(Sink&)` writes.
template <class Write>
std::string text_of(Write&& write) {
  StringSink sink;
  EXPECT_TRUE(write(sink));
  return sink.text();
}

// Takes no byte back.
class PipeSink final : public Sink {
 public:
  Result<void> write(std::string_view text) override {
    text_ += text;
    return {};
  }
  std::string text_;
};

inline Frame frame(std::uint64_t address, bool exact, FrameKind kind, std::uint32_t image = 0) {
  return {{address}, exact, FrameSource::kRegisters, kind, image};
}

}  // namespace ringside::exporters::testing
