#include "exporters/trace_dat/ring_buffer.h"

#include <gtest/gtest.h>

#include "exporters/trace_dat/trace_dat_test_util.h"

namespace ringside::exporters::trace_dat {
namespace {

using testing::Event;
using testing::events_of;

std::string written(const std::vector<Event>& events) {
  StringSink sink;
  RingBuffer buffer(sink);
  for (const Event& event : events) EXPECT_TRUE(buffer.add(event.time, event.bytes));
  EXPECT_TRUE(buffer.finish());
  EXPECT_EQ(buffer.size(), sink.text().size());
  return sink.text();
}

TEST(RingBuffer, NothingTakesNoPage) { EXPECT_EQ(written({}), ""); }

TEST(RingBuffer, EventsKeepTimesAndBytes) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 27;  // beyond what an event's word holds
  constexpr std::uint64_t kVeryFar = std::uint64_t{1} << 58;
  const std::vector<Event> events = {{7, "at first"},
                                     {7, "at the same time"},
                                     {6 + kFar, "near one"},
                                     {6 + 2 * kFar, "far away"},
                                     {6 + 3 * kFar, std::string(112, 'x')},
                                     {6 + 3 * kFar, std::string(116, 'y')},
                                     {5 + kVeryFar, "very far"}};
  const std::string pages = written(events);
  EXPECT_EQ(pages.size(), kPageSize);
  EXPECT_EQ(events_of(pages), events);
}

TEST(RingBuffer, ADistanceThatNoWordHoldsBeginsAPage) {
  const std::vector<Event> events = {{1, "past"}, {1 + (std::uint64_t{1} << 59), "next"}};
  const std::string pages = written(events);
  EXPECT_EQ(pages.size(), 2 * kPageSize);
  EXPECT_EQ(events_of(pages), events);
}

TEST(RingBuffer, TheLargestEventFillsAPage) {
  const std::vector<Event> events = {
      {1, "tiny"}, {2, std::string(kMostEvent, 'x')}, {std::uint64_t{1} << 40, "tiny"}};
  const std::string pages = written(events);
  EXPECT_EQ(pages.size(), 3 * kPageSize);
  EXPECT_EQ(events_of(pages), events);
}

TEST(RingBuffer, AnEventIsFilledUpToAWord) {
  EXPECT_EQ(events_of(written({{1, "12345"}})),
            (std::vector<Event>{{1, std::string("12345\0\0\0", 8)}}));
}

TEST(RingBuffer, PagesAreFull) {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 1000; ++i) events.push_back({i << 26, std::string(40, 'x')});
  const std::string pages = written(events);
  EXPECT_EQ(events_of(pages), events);
  EXPECT_LE(pages.size(), (1000 * (40 + 4) / (kPageSize - 16 - 44) + 1) * kPageSize);
}

}  // namespace
}  // namespace ringside::exporters::trace_dat
