#include "arch/serial_port.h"

#include "arch/instructions.h"
#include "arch/io.h"

namespace {

constexpr u32 kFifoBytes = 16;  // National Semiconductor PC16550D data sheet

}  // namespace

void start_port(u16 port) {
  out8(port + 1, 0);     // no interrupts
  out8(port + 2, 0x07);  // FIFOs, emptied
  out8(port + 3, 0x03);  // 8 bits, no parity
}

extern "C" void write_port(u16 port, const char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i % kFifoBytes == 0)
      while (!(in8(port + 5) & 0x20)) pause();
    out8(port, static_cast<u8>(bytes[i]));
  }
}
