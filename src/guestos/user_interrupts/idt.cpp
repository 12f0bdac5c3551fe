#include "guestos/user_interrupts/idt.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/little_endian.h"
#include "elf/symbol_extent.h"
#include "guestos/user_interrupts/pushed_words.h"

namespace ringside::guestos {
namespace {

constexpr std::size_t kVectors = 256;
constexpr unsigned kFirstInterrupt = 32;  // Intel SDM volume 3, 6.2
constexpr std::size_t kAlignment = 8;     // of a table (Intel SDM volume 3, 6.10), bytes
// A table may follow a lock or a state in its object.
constexpr std::size_t kMostBefore = 64;
constexpr std::size_t kLargestObject = 64 * 1024;

struct Gate {
  bool is_present = false;
  unsigned privilege = 0;  // the lowest level that may call it
  GuestVirt handler;
};

// Intel SDM volume 3, figures 6-2 and 6-8: interrupt and trap gates. Nothing where the bytes are no
// gate. One that is not present leads nowhere.
std::optional<Gate> read_gate(Bytes bytes, const elf::Image& kernel) {
  const auto type = load<std::uint8_t>(bytes, 5);
  std::uint64_t handler =
      load<std::uint16_t>(bytes, 0) | std::uint64_t{load<std::uint16_t>(bytes, 6)} << 16;
  bool is_clean = true;
  if (kernel.file->is_64()) {
    handler |= std::uint64_t{load<std::uint32_t>(bytes, 8)} << 32;
    is_clean = load<std::uint32_t>(bytes, 12) == 0;
  }
  if (!is_clean) return std::nullopt;
  const Gate gate{(type & 0x80) != 0, type >> 5 & 3u, GuestVirt{handler}};
  if (!gate.is_present) return handler == 0 ? std::optional(gate) : std::nullopt;
  const bool is_gate = (type & 0x1e) == 0x0e;
  return is_gate && kernel.file->is_code(kernel.to_image(gate.handler)) ? std::optional(gate)
                                                                        : std::nullopt;
}

// All of them, by vector; empty where some are none.
std::vector<Gate> read_gates(Bytes bytes, const elf::Image& kernel) {
  const std::size_t size = kernel.file->is_64() ? 16 : 8;
  std::vector<Gate> gates;
  for (std::size_t at = 0; at + size <= bytes.size() && gates.size() < kVectors; at += size) {
    const auto gate = read_gate(bytes.subspan(at, size), kernel);
    if (!gate) return {};
    gates.push_back(*gate);
  }
  return gates;
}

// Zeros in front of a table look like gates that are not present. Only a whole table shows that
// they are none: else the gate that is the first one present may be another vector's.
std::vector<Gate> find_gates(Bytes object, const elf::Image& kernel) {
  bool may_be_shifted = false;
  for (std::size_t at = 0; at < object.size() && at <= kMostBefore; at += kAlignment) {
    auto gates = read_gates(object.subspan(at), kernel);
    if (gates.empty()) continue;
    if (gates.front().is_present)
      return may_be_shifted && gates.size() < kVectors ? std::vector<Gate>() : gates;
    may_be_shifted = true;
  }
  return {};
}

char lower(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

// Words are separated by other characters, or by a change to upper case. In mangled names of C++
// and Rust a number is in front of a name, and an E may be behind it.
bool has_word_idt(std::string_view name) {
  for (std::size_t at = 0; at + 3 <= name.size(); ++at) {
    const bool is_idt =
        lower(name[at]) == 'i' && lower(name[at + 1]) == 'd' && lower(name[at + 2]) == 't';
    if (!is_idt) continue;
    const bool begins =
        at == 0 || !is_letter(name[at - 1]) || (is_upper(name[at]) && !is_upper(name[at - 1]));
    const std::string_view behind = name.substr(at + 3);
    const bool is_mangled = name.starts_with("_Z") && behind.starts_with('E');
    const bool ends = behind.empty() || !is_letter(behind.front()) || is_mangled ||
                      (is_upper(behind.front()) && !is_upper(name[at + 2]));
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

std::vector<IdtObject> objects_named_idt(const elf::ElfFile& file) {
  std::vector<elf::TableSymbol> symbols = file.all_symbols();
  std::sort(symbols.begin(), symbols.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  std::vector<IdtObject> objects;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const elf::TableSymbol& symbol = symbols[i];
    if (!has_word_idt(symbol.name) || file.may_hold_code(symbol.address)) continue;
    objects.push_back(
        {symbol.address, std::min<std::uint64_t>(elf::extent_of(symbols, i), kLargestObject)});
  }
  return objects;
}

Result<std::vector<KernelEntry>> entries_of_idt(const elf::Image& kernel,
                                                std::span<const IdtObject> objects,
                                                VirtualMemory& memory) {
  PushedWords pushed(*kernel.file);
  std::map<GuestVirt, KernelEntry> entries;
  for (const IdtObject& object : objects) {
    RINGSIDE_ASSIGN(const auto bytes,
                    memory.read_bytes(kernel.to_guest(object.address), object.size));
    const std::vector<Gate> gates = find_gates(bytes, kernel);
    for (unsigned vector = 0; vector < gates.size(); ++vector) {
      const Gate& gate = gates[vector];
      if (!gate.is_present) continue;
      const bool is_interrupts = vector >= kFirstInterrupt && gate.privilege == 0;
      auto words = pushed.of(kernel.to_image(gate.handler), vector);
      const auto [entry, is_new] = entries.try_emplace(
          gate.handler, KernelEntry{gate.handler, is_interrupts, std::move(words)});
      if (is_new) continue;
      entry->second.is_interrupts &= is_interrupts;
      if (entry->second.pushed != words) entry->second.pushed.clear();
    }
  }
  std::vector<KernelEntry> result;
  for (auto& [address, entry] : entries) result.push_back(std::move(entry));
  return result;
}

}  // namespace ringside::guestos
