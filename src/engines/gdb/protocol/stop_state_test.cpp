#include "engines/gdb/protocol/stop_state.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside::engines::gdb {
namespace {

constexpr StopState kStates[]{StopState::kRunning,   StopState::kHeld,     StopState::kPaused,
                              StopState::kBrokenOff, StopState::kDetached, StopState::kGone};
constexpr const char* kNames[]{"running", "held", "paused", "broken-off", "detached", "gone"};

// A column for each state, in that order; "-": the event cannot come there.
struct Row {
  StopEvent event;
  const char* after[std::size(kStates)];
};
constexpr Row kTable[]{
    {StopEvent::kStopSent, {"held", "held", "-", "-", "-", "-"}},
    {StopEvent::kUnaskedStop, {"paused", "paused", "paused", "-", "-", "-"}},
    {StopEvent::kFoundPaused, {"-", "paused", "paused", "-", "-", "-"}},
    {StopEvent::kFoundRunning, {"-", "-", "held", "-", "-", "-"}},
    {StopEvent::kContinueSent, {"-", "running", "-", "-", "-", "-"}},
    {StopEvent::kMigrates, {"paused", "paused", "paused", "-", "-", "-"}},
    {StopEvent::kWriteFailed, {"-", "broken-off", "detached", "-", "-", "-"}},
    {StopEvent::kLetGo, {"-", "detached", "detached", "detached", "-", "-"}},
    {StopEvent::kEnded, {"gone", "gone", "gone", "gone", "detached", "gone"}},
};

std::string name_of(std::optional<StopState> state) {
  return state ? kNames[static_cast<std::size_t>(*state)] : "-";
}

TEST(StopState, TheTable) {
  for (const Row& row : kTable)
    for (std::size_t i = 0; i < std::size(kStates); ++i)
      EXPECT_EQ(name_of(after(kStates[i], row.event)), row.after[i])
          << "event " << static_cast<int>(row.event) << " while " << kNames[i];
}

// A guest that its user has stopped is let run by nothing that ringside sends.
TEST(StopState, OnlyAHeldGuestIsContinued) {
  for (const Row& row : kTable)
    for (const StopState state : kStates)
      if (after(state, row.event) == StopState::kRunning) {
        EXPECT_EQ(state, StopState::kHeld);
        EXPECT_EQ(row.event, StopEvent::kContinueSent);
      }
}

// If ringside dies, the guardian lets the guest run where ringside had stopped it.
TEST(StopState, TheGuardianUndoesWhatIsOurs) {
  EXPECT_EQ(guest_state_in(StopState::kRunning), GuestState::kRunning);
  EXPECT_EQ(guest_state_in(StopState::kHeld), GuestState::kOurs);
  EXPECT_EQ(guest_state_in(StopState::kBrokenOff), GuestState::kOurs);
  for (const StopState state : {StopState::kPaused, StopState::kDetached, StopState::kGone})
    EXPECT_EQ(guest_state_in(state), GuestState::kPaused);
}

}  // namespace
}  // namespace ringside::engines::gdb
