#include "session/kernel/unknown_code.h"

#include <algorithm>
#include <array>

#include "arch/arch_info.h"
#include "elf/elf_writer.h"
#include "session/kernel/kernel_search.h"
#include "session/kernel/memory_scan.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kMegabyte = 1 << 20;
constexpr std::uint64_t kDown = kMegabyte;
constexpr std::uint64_t kUp = 2 * kMegabyte;
constexpr unsigned kOften = 16;  // ticks
constexpr unsigned kReads = 8;
constexpr std::size_t kMostRegions = 4096;
constexpr std::uint64_t kCheckIntervalNs = 1'000'000'000;

// Kernels map memory from physical address 0 on, or from where a machine's RAM begins, to a
// multiple of 1 GiB. Devices lie in front of it. A PC has some behind 640 KiB, too, which a read
// may disturb, and its BIOS up to 1 MiB (IBM PC/AT Technical Reference, system memory map).
std::optional<ScanReach> reach_around(Arch arch, GuestVirt pc) {
  constexpr std::uint64_t kVideoMemory = 640 << 10;
  const bool is_pc = arch::info_of(arch).is_x86;
  const std::uint64_t offset = pc.value % (1 << 30);
  ScanReach reach{.down = kDown, .up = kUp, .lowest = pc.value - offset};
  if (!is_pc) return reach;
  if (offset >= kMegabyte)
    reach.lowest += kMegabyte;
  else if (offset < kVideoMemory)
    reach.up = std::min(kUp, (kVideoMemory - offset) / 65536 * 65536);
  else
    return std::nullopt;
  return reach;
}

std::vector<elf::ElfWriter::Symbol> symbols_in(const MappedMemory& memory,
                                               const symbols::SymbolList& list) {
  constexpr std::uint8_t kFunction = 0x12;  // ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
  std::vector<elf::ElfWriter::Symbol> symbols;
  for (const symbols::ListedSymbol& symbol : list.symbols) {
    const bool is_there =
        std::any_of(memory.begin(), memory.end(), [&](const MappedMemory::value_type& piece) {
          return symbol.address.value - piece.first < piece.second.size();
        });
    if (is_there && symbol.is_text())
      symbols.push_back({.name = symbol.name, .address = symbol.address, .info = kFunction});
  }
  return symbols;
}

Result<elf::Image> make_image(Arch arch, const MappedMemory& memory,
                              const symbols::SymbolList* list) {
  const bool is_64 = arch::info_of(arch).is_64_bit();
  constexpr std::uint16_t kExecutable = 2;  // ET_EXEC
  elf::ElfWriter writer(arch, is_64, kExecutable);
  for (const auto& [address, bytes] : memory)
    writer.add_segment({address}, bytes.size(), true, false, bytes);
  if (list != nullptr) writer.set_symbols(symbols_in(memory, *list));
  RINGSIDE_ASSIGN(auto file, elf::ElfFile::from_bytes(writer.write(), ""));
  return elf::Image{.name = elf::kKernelImage, .file = std::move(file), .from_guest = true};
}

}  // namespace

const elf::Image* UnknownCode::find(GuestVirt pc) const {
  const auto found = std::find_if(images_.rbegin(), images_.rend(), [&](const elf::Image& image) {
    return image.file->is_code(image.to_image(pc));
  });
  return found == images_.rend() ? nullptr : &*found;
}

bool UnknownCode::wants(Arch arch, GuestVirt pc, std::uint64_t now_ns) {
  if (reads_ >= kReads || !reach_around(arch, pc)) return false;
  if (met_.size() >= kMostRegions) met_.clear();
  if (find(pc) == nullptr) return ++met_[pc.value / (2 * kMegabyte)] >= kOften;
  if (now_ns < next_check_ns_) return false;
  next_check_ns_ = now_ns + kCheckIntervalNs;
  return true;
}

Result<std::optional<elf::Image>> UnknownCode::poll(Arch arch, GuestVirt pc,
                                                    VirtualMemory& memory) {
  const auto reach = reach_around(arch, pc);
  if (!reach) return std::nullopt;
  if (const elf::Image* known = find(pc)) {
    std::array<std::byte, 16> now;
    const Bytes then = known->file->bytes_at(known->to_image(pc), now.size());
    RINGSIDE_ASSIGN(const std::size_t size, memory.read_up_to(pc, now));
    const std::size_t both = std::min(then.size(), size);
    if (std::equal(then.begin(), then.begin() + static_cast<long>(both), now.begin()))
      return std::nullopt;
  }
  met_.clear();
  ++reads_;
  RINGSIDE_ASSIGN(const MappedMemory mapped, read_around(pc, *reach, memory));
  if (mapped.empty()) return std::nullopt;
  RINGSIDE_ASSIGN(auto image, make_image(arch, mapped, symbols_.get()));
  return images_.emplace_back(std::move(image));
}

}  // namespace ringside::session
