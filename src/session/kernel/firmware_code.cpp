#include "session/kernel/firmware_code.h"

#include <algorithm>
#include <optional>

#include "arch/execution_mode.h"
#include "arch/riscv64.h"
#include "wire/firmware_frame.h"

namespace ringside::session {
namespace {

using namespace arch::riscv64;
namespace saved = wire::firmware_frame;

// The last trap has interrupted less privileged code, which is no guest's of the guest.
bool is_interruption(const arch::Registers& registers) {
  const bool has_all = registers.has(kSepc) && registers.has(kSstatus) && registers.has(kSatp) &&
                       registers.has(kPriv) && registers.get(kPriv) == saved::kMachine;
  if (!has_all) return false;
  const std::uint64_t status = registers.get(kSstatus);
  return saved::mode_of(status) < 2 && (status & saved::kIsGuests) == 0;
}

// Firmware steps over the instruction that has called it in the frame only.
bool is_frame_of(const arch::Registers& registers, GuestVirt at, Bytes frame) {
  const auto word = [&](std::uint32_t offset) { return load<std::uint64_t>(frame, offset); };
  const std::uint64_t pc = word(saved::offset_of(kPc));
  const std::uint64_t epc = registers.get(kSepc);
  return (registers.get(kSstatus) & saved::kReadsAsCaller) == 0 &&
         saved::is_below(registers.get(kSp), at.value) && word(saved::offset_of(kZero)) == 0 &&
         (pc == epc || pc == epc + saved::kEcallBytes) &&
         ((word(saved::kStatus) ^ registers.get(kSstatus)) & ~saved::kChanges) == 0;
}

// mret leaves user mode as the previous one. Firmware that expects a trap of its own, and restores
// the mode afterwards, leaves its own pc.
bool is_surely_supervisors(const arch::Registers& registers) {
  constexpr std::uint64_t kSupervisor = 1;
  constexpr std::uint64_t kFirmwareReach = 512u << 10;
  const std::uint64_t epc = registers.get(kSepc);
  const std::uint64_t entry = registers.get(registers.has(kStvec) ? kStvec : kPc);
  const std::uint64_t distance = epc < entry ? entry - epc : epc - entry;
  return saved::mode_of(registers.get(kSstatus)) == kSupervisor && distance >= kFirmwareReach;
}

struct Frame {
  GuestVirt at;
  Bytes bytes;
};

// Entry code puts it at the top of the stack: the highest place counts.
std::optional<Frame> find_on_stack(const wire::Capture& capture) {
  for (const wire::MemoryPiece& piece : capture.pieces) {
    if (piece.why != wire::PieceKind::kCurrentStack || piece.size < saved::kBytes) continue;
    const Bytes stack = capture.bytes_of(piece);
    for (std::size_t at = (piece.size - saved::kBytes) & ~std::size_t{7};; at -= saved::kWord) {
      const Frame frame{piece.address + at, stack.subspan(at, saved::kBytes)};
      if (is_frame_of(capture.registers, frame.at, frame.bytes)) return frame;
      if (at == 0) break;
    }
  }
  return std::nullopt;
}

std::optional<Frame> copied_frame(const wire::Capture& capture) {
  const wire::MemoryPiece* piece = capture.tagged(saved::kTag);
  if (piece == nullptr || piece->size != saved::kBytes) return std::nullopt;
  const Bytes bytes = capture.bytes_of(*piece);
  return is_frame_of(capture.registers, piece->address, bytes)
             ? std::optional(Frame{piece->address, bytes})
             : std::nullopt;
}

// Nothing has been saved yet at the first instruction.
bool is_at_entry(const arch::Registers& registers) {
  return registers.has(kStvec) && (registers.get(kStvec) & saved::kEntry) == registers.get(kPc);
}

// Where that code was is always there.
arch::Registers registers_in(const wire::Capture& capture, const std::optional<Frame>& frame) {
  arch::Registers registers;
  for (std::uint8_t reg = kRa; reg <= kT6; ++reg)
    if (frame)
      registers.set(reg, load<std::uint64_t>(frame->bytes, saved::offset_of(reg)));
    else if (is_at_entry(capture.registers))
      registers.set(reg, capture.registers.get(reg));
  registers.set(kPc, capture.registers.get(kSepc));
  registers.set(kPriv, saved::mode_of(capture.registers.get(kSstatus)));
  registers.set(kSatp, capture.registers.get(kSatp));
  return registers;
}

// The copies of one page each are one piece again.
void join_parts(std::vector<wire::MemoryPiece>& pieces) {
  std::vector<wire::MemoryPiece> joined;
  for (const wire::MemoryPiece& piece : pieces) {
    const bool goes_on = !joined.empty() && piece.is_memory() && joined.back().why == piece.why &&
                         joined.back().tag == piece.tag &&
                         joined.back().requested == joined.back().size + piece.requested &&
                         joined.back().address + joined.back().size == piece.address &&
                         joined.back().offset + joined.back().size == piece.offset;
    if (goes_on)
      joined.back().size += piece.size;
    else
      joined.push_back(piece);
  }
  pieces = std::move(joined);
}

}  // namespace

bool enter_interrupted_code(wire::Capture& capture, bool wants_user) {
  if (capture.arch != Arch::kRiscv64 || !is_interruption(capture.registers)) return false;
  if (!wants_user && saved::mode_of(capture.registers.get(kSstatus)) == 0) return false;
  const bool is_entry = is_at_entry(capture.registers);
  auto frame = is_entry ? std::nullopt : copied_frame(capture);
  const bool has_memory = is_entry ? capture.tagged(saved::kTag) != nullptr : frame.has_value();
  if (!is_entry && !frame) frame = find_on_stack(capture);
  if (!is_entry && !frame && !is_surely_supervisors(capture.registers)) return false;
  const arch::Registers registers = registers_in(capture, frame);
  capture.firmware = {GuestVirt{capture.registers.get(kPc)},
                      frame ? std::optional(frame->at) : std::nullopt};
  capture.registers = registers;
  capture.level = arch::privilege_level_of(capture.arch, registers);
  if (has_memory) {
    join_parts(capture.pieces);
  } else {
    capture.pieces.clear();
    capture.bytes.clear();
  }
  return true;
}

}  // namespace ringside::session
