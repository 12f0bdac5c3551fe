#pragma once

#include <functional>
#include <optional>

#include "base/stack.h"
#include "wire/guest_record.h"
#include "wire/walked_frames.h"

namespace ringside::unwind {

// The stack that a guest has walked itself, of one kind of code. `missed`, which may be empty,
// returns the caller of code that was interrupted, where the walk has missed that one.
using MissedCaller =
    std::function<std::optional<Frame>(GuestVirt pc, const wire::WalkedFrames::Interruption& at)>;
[[nodiscard]] Stack walked_stack(const wire::WalkedFrames& walked, FrameKind kind,
                                 const MissedCaller& missed = {});

// The stack of an event that the guest has recorded itself. Whether its code is the kernel's is not
// known: the event was reported by the kernel.
[[nodiscard]] Stack walked_stack(const wire::GuestFrames& frames);

// The user code's part of a capture whose stacks the guest has walked; nothing where it has none.
[[nodiscard]] std::optional<Stack> walked_user_stack(const wire::Capture& capture);

}  // namespace ringside::unwind
