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

// The walk that a TableShape describes; nothing where it meets no page.
std::optional<GuestPhys> walk_shape(const memory::TableShape& shape, GuestPhys root,
                                    memory::testing::FakePhysicalMemory& ram, GuestVirt address) {
  if (address.value >> shape.address_bits != 0) return std::nullopt;
  GuestPhys table = root;
  for (const memory::RadixLevel& level : shape.levels) {
    std::uint64_t entry = 0;
    const std::uint64_t index =
        address.value >> level.shift & ((std::uint64_t{1} << level.index_bits) - 1);
    const auto got =
        ram.read_up_to(table + index * 8, std::as_writable_bytes(std::span(&entry, 1)));
    if (!got || *got < 8 || (entry & shape.present.mask) != shape.present.value)
      return std::nullopt;
    table = {};
    for (const auto& bits : shape.address) table.value |= (entry & bits.mask) << bits.left;
    const bool last = &level == &shape.levels.back();
    if (!last && (entry & shape.table.mask) == shape.table.value) continue;
    if (!last && !level.may_be_page) return std::nullopt;
    const std::uint64_t inside = (std::uint64_t{1} << level.shift) - 1;
    return GuestPhys{(table.value & ~inside) | (address.value & inside)};
  }
  return std::nullopt;
}

// The shape must lead to the same address as the walk, but for pages by Svnapot and entries of x86
// with reserved bits.
void check_shape(const memory::PageTables& tables, GuestPhys root, bool may_miss,
                 memory::testing::FakePhysicalMemory& ram, GuestVirt address) {
  const auto shape = tables.lower_half();
  const auto walk = tables.walk(ram, address);
  if (!shape || !walk || walk->end != memory::WalkEnd::kMapped) return;
  if (address.value >> shape->address_bits != 0) return;  // the upper half, or a tag
  const auto found = walk_shape(*shape, root, ram, address);
  if (!found && may_miss) return;
  if (!found || *found != walk->address) std::abort();
}

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
  arch::Registers registers;
  registers.set(arch::riscv64::kSatp, satp);
  registers.set(arch::riscv64::kPriv, 1);
  const auto tables = memory::riscv64::SupervisorTables::of(registers);
  if (!tables) return;
  check(*tables, ram, address);
  check_shape(*tables, tables->root(), true, ram, address);
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
    for (const bool five_levels : {false, true}) {
      const memory::x86_64::LongModeTables tables(*cr3, five_levels);
      check_shape(tables, tables.root(), true, ram, GuestVirt{at});
    }
    check(memory::i386::ProtectedModeTables(*cr3, *cr4), ram, GuestVirt{at});
    check(memory::aarch64::StageOneTables({*cr3, *cr3, *cr4, true}), ram, GuestVirt{at});
    check_shape(memory::aarch64::StageOneTables({0, 0, *cr4, true}), {}, false, ram, GuestVirt{at});
    check_riscv64(*cr3, ram, GuestVirt{at});
  }
  return 0;
}
