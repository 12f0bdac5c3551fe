#include "unwind/stack_end.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::unwind {
namespace {

constexpr std::uint64_t kMegabyte = 1 << 20;

// How far from a kernel's code there may be code of its modules. One in the upper half reaches them
// by calls (x86_64: in the upper 2 GiB, psABI, "Kernel code model"); user code is in the lower.
std::uint64_t module_distance(const elf::Image& image, GuestVirt code,
                              const arch::ArchInfo& platform) {
  const unsigned bits = 8u * platform.roles.pointer_size;
  if (code.value >> (bits - 1) != 0) return (bits == 64 ? 2048 : 128) * kMegabyte;
  return image.from_guest ? 64 * kMegabyte : 0;
}

// One byte again and again, as debuggers and kernels fill stacks: 0x99, 0xa5, 0xcc.
bool is_fill(std::uint64_t word, std::size_t size) {
  const std::uint64_t byte = word & 0xff;
  for (std::size_t i = 1; i < size; ++i)
    if ((word >> 8 * i & 0xff) != byte) return false;
  return byte != 0;
}

}  // namespace

GuestVirt StackEnd::end_below(const MachineState& state) {
  const arch::RegisterRoles& roles = state.platform->roles;
  return state.has_sp() ? state.sp() : state.slots[roles.pc] + roles.pointer_size;
}

Stop StackEnd::judge(const MachineState& frame, const Stop& why) const {
  const Stop end{StopReason::kEndOfStack, frame.pc()};
  switch (why.reason) {
    case StopReason::kUnreadable:
      if (memory_ends(why.at, frame.position())) return end;
      break;
    case StopReason::kNoRule:
    case StopReason::kBadAddress:
    case StopReason::kNotAdvancing:
    case StopReason::kLostRegister:
      break;
    default:
      return why;
  }
  return calls_first_function(frame) ? end : why;
}

Stop StackEnd::judge(const MachineState& frame, const Caller& caller, const Stop& why) const {
  if (caller.interrupted) return why;
  const GuestVirt end = end_below(caller.state);
  if (why.reason == StopReason::kEndOfStack)  // the return address is zero
    return is_near(end) ? why : judge(frame, {StopReason::kBadAddress, caller.state.pc()});
  // A leaf on a link register has nothing on the stack.
  const bool is_empty = end == frame.position() && end.value % kPage != 0;
  const bool is_own = !caller.stack_switched && caller.source != FrameSource::kGuess &&
                      (is_empty || memory_.same_piece(frame.position(), end - 1));
  const bool is_code = may_be_unknown_code(caller.state.pc(), false);
  if (why.reason == StopReason::kBadAddress && is_own && !is_code &&
      (is_last(end, true) || is_first_function(frame, caller)))
    return {StopReason::kEndOfStack, frame.pc()};
  return judge(frame, why);
}

bool StackEnd::is_first_function(const MachineState& frame, const Caller& caller) const {
  const arch::RegisterRoles& roles = frame.platform->roles;
  const MachineState& state = caller.state;
  // The frame pointer leads to where that of before was saved: the code keeps frame pointers.
  const GuestVirt record =
      GuestVirt{frame.get(roles.fp)} +
      static_cast<std::uint64_t>(frame.platform->frame_record.from_fp * roles.pointer_size);
  const bool had_none = frame.has(roles.fp) && state.has(roles.fp) && state.get(roles.fp) == 0 &&
                        state.slots[roles.fp] == record;
  // A signature in the upper bytes of a return address has been taken away.
  const std::size_t bytes = frame.platform->signs_addresses ? 6 : roles.pointer_size;
  const auto above = memory_.read_pointer(end_below(state));
  if (!had_none || !is_fill(state.pc().value, bytes) || !above ||
      !is_fill(*above, roles.pointer_size) || ((*above ^ state.pc().value) & 0xff) != 0)
    return false;
  const GuestVirt at = frame.lookup_address();
  const elf::Image* image = sources_.images().find_code(at);
  if (image == nullptr) return false;
  const auto start = sources_.code().function_start(*image, image->to_image(at));
  return start && !sources_.may_be_called(*image, *start);
}

bool StackEnd::calls_first_function(const MachineState& frame) const {
  const elf::Image* image = frame.exact ? nullptr : sources_.images().find_code(frame.pc());
  return image != nullptr && sources_.code().never_returns(*image, frame.pc()) &&
         is_last(end_below(frame), true);
}

// Mapped memory, with the stack that has come up to `below`. Fewer bytes are there than were asked
// for.
bool StackEnd::memory_ends(GuestVirt at, GuestVirt below) const {
  const wire::MemoryPiece* piece = memory_.piece_at(at - 1);
  return at.value % kPage == 0 && piece != nullptr && piece->size < piece->requested &&
         at == piece->address + piece->size && memory_.piece_at(below) == piece &&
         !leads_on(*piece);
}

// The capture has copied the stacks that were left for one another in order.
bool StackEnd::leads_on(const wire::MemoryPiece& stack) const {
  const auto& pieces = memory_.capture().pieces;
  return std::any_of(pieces.begin(), pieces.end(), [&](const wire::MemoryPiece& other) {
    return other.why == wire::PieceKind::kInterruptedStack && &other > &stack;
  });
}

bool StackEnd::is_last(GuestVirt end, bool is_whole) const {
  const std::uint64_t word = sources_.platform().roles.pointer_size;
  // A frame may end where the copied bytes do, or (a leaf's) where they begin.
  const wire::MemoryPiece* piece = memory_.piece_at(end - 1);
  if (piece == nullptr) piece = memory_.piece_at(end);
  if (piece == nullptr || end.value % word != 0 || leads_on(*piece)) return false;
  // A stack may have several pages.
  const GuestVirt page_end{(end.value + kPage - 1) / kPage * kPage};
  const GuestVirt limit = is_whole ? page_end + kNear : end + kNear;
  for (GuestVirt at = end; at < limit; at = at + word) {
    if (at - piece->address >= piece->size) return !is_whole || at >= page_end;
    const auto value = memory_.read_pointer(at);
    if (!value) continue;
    if (is_return_address(*value)) return false;
    if (is_whole && may_be_unknown_code({*value}, true)) return false;
  }
  return true;
}

bool StackEnd::may_be_unknown_code(GuestVirt at, bool partial_only) const {
  const elf::ImageMap& images = sources_.images();
  const auto half_of = [bits = 8u * sources_.platform().roles.pointer_size](GuestVirt address) {
    return address.value >> (bits - 1);
  };
  if (images.find_code(at) != nullptr) return false;
  for (const elf::Image& image : images.images()) {
    if (partial_only && !image.from_guest) continue;
    for (const elf::Segment& segment : image.file->segments()) {
      const GuestVirt code = image.to_guest(segment.address);
      const std::uint64_t distance = module_distance(image, code, sources_.platform());
      const bool is_near =
          at >= code ? at - code < segment.memory_size + distance : code - at <= distance;
      if (segment.executable && is_near && half_of(at) == half_of(code)) return true;
    }
  }
  return false;
}

bool StackEnd::is_return_address(std::uint64_t word) const {
  const GuestVirt at{sources_.platform().code_address(word)};
  const elf::Image* image = sources_.images().find_code(at - 1);
  return image != nullptr && sources_.code().follows_call(*image, image->to_image(at));
}

}  // namespace ringside::unwind
