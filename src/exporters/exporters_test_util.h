#pragma once

#include <gtest/gtest.h>

#include <string>

#include "exporters/sink.h"

namespace ringside::exporters::testing {

// The text that `write(Sink&)` writes.
template <class Write>
std::string text_of(Write&& write) {
  StringSink sink;
  EXPECT_TRUE(write(sink));
  return sink.text();
}

}  // namespace ringside::exporters::testing
