#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/little_endian.h"

namespace ringside::exporters::trace_dat::testing {

struct Event {
  std::uint64_t time = 0;
  std::string bytes;
  bool operator==(const Event&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Event& event) {
  return out << event.time << ": " << event.bytes.size() << " bytes " << event.bytes.substr(0, 40);
}

// The events of a processor's pages, by the rules of events/header_page and events/header_event.
inline std::vector<Event> events_of(std::string_view pages) {
  std::vector<Event> events;
  EXPECT_EQ(pages.size() % 4096, 0u);
  for (; !pages.empty(); pages.remove_prefix(4096)) {
    const Bytes page = as_bytes(pages.substr(0, 4096));
    auto time = load<std::uint64_t>(page);
    const std::size_t end = 16 + load<std::uint64_t>(page, 8);
    EXPECT_LE(end, 4096u);
    for (std::size_t at = 16; at < end;) {
      const auto word = load<std::uint32_t>(page, at);
      const std::uint32_t type = word & 31;
      EXPECT_LE(type, 30u);
      time += word >> 5;
      at += 4;
      if (type == 30) {
        time += std::uint64_t{load<std::uint32_t>(page, at)} << 27;
        at += 4;
        continue;
      }
      const std::size_t size = type != 0 ? 4 * type : load<std::uint32_t>(page, at) - 4;
      if (type == 0) at += 4;
      EXPECT_LE(at + size, end);
      events.push_back({time, std::string(pages.substr(at, size))});
      at += size;
    }
  }
  return events;
}

}  // namespace ringside::exporters::trace_dat::testing
