#include "guestos/linux/modules/bpf_code.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "arch/arch_info.h"
#include "base/little_endian.h"
#include "elf/elf_writer.h"

namespace ringside::guestos {
namespace {

constexpr std::size_t kMaxPrograms = 4096;
constexpr std::uint64_t kMaxCode = 4 << 20;  // the largest program has a million instructions

// KSYM_NAME_LEN: 512 since Linux 6.1.
constexpr std::array<std::uint64_t, 2> kNameBytes = {512, 128};

std::uint64_t word_at(Bytes bytes, std::size_t at, std::size_t size) {
  return size == 8 ? load<std::uint64_t>(bytes, at) : load<std::uint32_t>(bytes, at);
}

// Names of bpf_prog_kallsyms_add(), bpf_trampoline_ksym_add() and bpf_dispatcher_*.
std::string name_in(Bytes field) {
  const auto end = std::find(field.begin(), field.end(), std::byte{0});
  const std::string name(reinterpret_cast<const char*>(field.data()),
                         static_cast<std::size_t>(end - field.begin()));
  const bool is_text = std::all_of(name.begin(), name.end(),
                                   [](unsigned char letter) { return std::isgraph(letter) != 0; });
  return end != field.end() && is_text && name.starts_with("bpf_") ? name : std::string();
}

}  // namespace

Result<std::optional<BpfCode::Ksym>> BpfCode::read(GuestVirt entry, std::uint64_t name_bytes,
                                                   VirtualMemory& memory) const {
  const std::size_t word = arch::roles_of(arch_).pointer_size;
  const std::uint64_t size = 2 * word + name_bytes + 2 * word;
  const GuestVirt at = entry - (2 * word + name_bytes);
  RINGSIDE_ASSIGN(const auto bytes, memory.read_bytes(at, size));
  if (bytes.size() < size) return std::nullopt;
  Ksym ksym{.start = {word_at(bytes, 0, word)},
            .end = {word_at(bytes, word, word)},
            .name = name_in(Bytes(bytes).subspan(2 * word, name_bytes)),
            .next = {word_at(bytes, 2 * word + name_bytes, word)}};
  const bool is_one = !ksym.name.empty() && ksym.start < ksym.end &&
                      ksym.end - ksym.start <= kMaxCode && ksym.start.value != 0;
  return is_one ? std::optional(std::move(ksym)) : std::nullopt;
}

Result<std::optional<BpfCode::Ksym>> BpfCode::read(GuestVirt entry, VirtualMemory& memory) {
  if (name_bytes_ != 0) return read(entry, name_bytes_, memory);
  for (const std::uint64_t name_bytes : kNameBytes) {
    RINGSIDE_ASSIGN(auto ksym, read(entry, name_bytes, memory));
    if (!ksym) continue;
    name_bytes_ = name_bytes;
    return ksym;
  }
  return std::nullopt;
}

Result<std::optional<elf::Image>> BpfCode::image_of(const Ksym& ksym, VirtualMemory& memory) const {
  const std::uint64_t size = ksym.end - ksym.start;
  RINGSIDE_ASSIGN(const auto code, memory.read_bytes(ksym.start, size));
  if (code.size() < size) return std::nullopt;
  elf::ElfWriter writer(arch_, arch::roles_of(arch_).pointer_size == 8, ET_EXEC);
  writer.add_segment({ksym.start.value}, size, true, false, code);
  writer.set_symbols({{.name = ksym.name,
                       .address = {ksym.start.value},
                       .size = size,
                       .info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}});
  RINGSIDE_ASSIGN(auto file, elf::ElfFile::from_bytes(writer.write(), ksym.name));
  return elf::Image{.name = ksym.name, .file = std::move(file), .from_guest = true};
}

// list_add_tail_rcu() puts the newest last (bpf_ksym_add(), kernel/bpf/core.c), so the head shows
// what is new.
Result<std::vector<elf::Image>> BpfCode::poll(VirtualMemory& memory) {
  std::vector<elf::Image> images;
  const auto is_ksym = [&](GuestVirt entry) -> Result<bool> {
    RINGSIDE_ASSIGN(const auto ksym, read(entry, memory));
    return ksym.has_value();
  };
  RINGSIDE_ASSIGN(const auto found, list_.find(memory, is_ksym));
  if (!found) return images;
  const GuestVirt list = *found;
  const std::size_t word = arch::roles_of(arch_).pointer_size;
  RINGSIDE_ASSIGN(const auto bytes, memory.read_bytes(list, 2 * word));
  if (bytes.size() < 2 * word) return images;
  const std::pair head(word_at(bytes, 0, word), word_at(bytes, word, word));
  if (head_ == head) return images;
  bool all = true;
  GuestVirt entry{head.first};
  for (std::size_t i = 0; i < kMaxPrograms && entry != list; ++i) {
    RINGSIDE_ASSIGN(const auto ksym, read(entry, memory));
    if (!ksym) {
      all = false;
      break;
    }
    const std::pair what(ksym->start, ksym->name);
    const std::uint64_t at = entry.value;
    entry = ksym->next;
    if (const auto before = taken_.find(at); before != taken_.end() && before->second == what)
      continue;
    if (ksym->end - ksym->start > bytes_left_) continue;
    RINGSIDE_ASSIGN(auto image, image_of(*ksym, memory));
    if (!image) {
      all = false;
      continue;
    }
    taken_[at] = what;
    bytes_left_ -= ksym->end - ksym->start;
    images.push_back(std::move(*image));
  }
  if (all) head_ = head;
  return images;
}

}  // namespace ringside::guestos
