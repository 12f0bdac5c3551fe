#include "engines/gdb/memory/memory_reads.h"

#include <algorithm>
#include <cstring>

#include "engines/gdb/protocol/hex.h"

namespace ringside::engines::gdb {

MemoryReads memory_reads_of(const StubTraits& traits, bool has_x) {
  // QEMU gives half of its PacketSize exactly (gdbstub.c, handle_read_mem, 7.2); other stubs may
  // count the frame of the packet as well. Escapes may double a binary answer, and 'b' leads it.
  const std::size_t frame = traits.qemu && !has_x ? 0 : 8;
  return {has_x, std::clamp<std::size_t>((traits.packet_size - frame) / 2, 16, 32 * 1024)};
}

std::string memory_request(const MemoryReads& reads, GuestVirt address, std::size_t size) {
  return fmt::format("{}{:x},{:x}", reads.binary ? 'x' : 'm', address.value, size);
}

std::size_t decode_memory(const MemoryReads& reads, std::string_view reply,
                          std::span<std::byte> destination) {
  // "E14" is an error, and no byte 0xe1.
  if (!reads.binary) return reply.size() % 2 == 0 ? decode_hex(reply, destination) : 0;
  if (reply.empty() || reply.front() != 'b') return 0;
  const std::size_t count = std::min(reply.size() - 1, destination.size());
  std::memcpy(destination.data(), reply.data() + 1, count);
  return count;
}

}  // namespace ringside::engines::gdb
