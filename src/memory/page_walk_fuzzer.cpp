// Walks over memory that the fuzzer made: each walk must end after one entry a level, and what is
// mapped must not reach beyond its page.

#include <algorithm>
#include <cstdlib>

#include "base/byte_reader.h"
#include "memory/aarch64/page_walk.h"
#include "memory/address_space.h"
#include "memory/i386/page_walk.h"
#include "memory/riscv64/page_walk.h"
#include "memory/testing/fake_physical_memory.h"
#include "memory/x86_64/page_walk.h"

namespace {

using namespace ringside;

void check(const memory::PageTables& tables, memory::testing::FakePhysicalMemory& ram,
           GuestVirt address) {
  ram.reads = 0;
  const auto walk = tables.walk(ram, address);
  if (!walk || ram.reads > 5) std::abort();
  if (walk->end == memory::WalkEnd::kMapped &&
      (walk->bytes == 0 || walk->bytes > (std::uint64_t{1} << 48)))
    std::abort();
  memory::AddressSpace space(tables, ram);
  std::vector<std::byte> bytes(3 * 4096);
  const auto got = space.read_up_to(address, bytes);
  if (!got || *got > bytes.size()) std::abort();
}

void check_riscv64(std::uint64_t satp, memory::testing::FakePhysicalMemory& ram,
                   GuestVirt address) {
  wire::Registers registers;
  registers.set(wire::riscv64::kSatp, satp);
  registers.set(wire::riscv64::kPriv, 1);
  if (const auto tables = memory::riscv64::SupervisorTables::of(registers))
    check(*tables, ram, address);
}

}  // namespace

// The root and what says the format (CR3 and CR4; TTBRn_EL1 and TCR_EL1; satp), an address, and RAM
// from 0 up.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader reader(std::as_bytes(std::span(data, size)));
  const auto cr3 = reader.read<std::uint64_t>();
  const auto cr4 = reader.read<std::uint64_t>();
  const auto address = reader.read<std::uint64_t>();
  if (!cr3 || !cr4 || !address || reader.remaining() > 1u << 20) return 0;
  const std::size_t ram_bytes = reader.remaining();
  memory::testing::FakePhysicalMemory ram(ram_bytes);
  const auto rest = reader.read_bytes(ram_bytes);
  std::copy(rest->begin(), rest->end(), ram.bytes.begin());
  for (const std::uint64_t at : {*address, *address | 0xffff800000000000, *address & 0xffffffff}) {
    check(memory::x86_64::LongModeTables(*cr3, false), ram, GuestVirt{at});
    check(memory::x86_64::LongModeTables(*cr3, true), ram, GuestVirt{at});
    check(memory::i386::ProtectedModeTables(*cr3, *cr4), ram, GuestVirt{at});
    check(memory::aarch64::StageOneTables({*cr3, *cr3, *cr4, true}), ram, GuestVirt{at});
    check_riscv64(*cr3, ram, GuestVirt{at});
  }
  return 0;
}
