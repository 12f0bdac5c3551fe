// Everything that reads bytes of a stub, except the target description.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "arch/execution_mode.h"
#include "arch/x86.h"
#include "engines/gdb/memory/memory_reads.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/protocol/packet.h"
#include "engines/gdb/protocol/thread_info.h"
#include "engines/gdb/register_layout.h"

using namespace ringside;
using namespace ringside::engines::gdb;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kLayout = RegisterLayout::fallback(164);
  std::string_view received(reinterpret_cast<const char*>(data), size);
  while (!received.empty()) {
    const Scan scan = scan_packet(received);
    if (scan.kind == ScanKind::kIncomplete) break;
    if (scan.consumed == 0 || scan.consumed > received.size()) std::abort();
    // A wrong checksum is as good a body, for a fuzzer.
    if (const auto body = decode_body(scan.body)) {
      (void)parse_thread_list(*body);
      (void)parse_thread_extra(*body);
      arch::Registers registers;
      kLayout->decode_g(*body, registers);
      (void)privilege_level_of(Arch::kX86_64, registers);
      (void)arch::as_i386(registers);
      std::byte bytes[64];
      if (decode_memory({false, 64}, *body, bytes) > 64) std::abort();
      if (decode_memory({true, 64}, *body, bytes) > 64) std::abort();
    }
    received.remove_prefix(scan.consumed);
  }
  return 0;
}
