#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elf/elf_writer.h"
#include "guestos/linux/entry/entry_code.h"

namespace ringside::guestos::testing {

// Types of a kernel of which a test needs these few members.
class FewTypes final : public TypeSource {
 public:
  std::map<std::string, Field> members;  // "tss_struct.x86_tss.sp2"
  std::map<std::string, std::uint64_t> sizes;

  [[nodiscard]] std::optional<Field> member(std::string_view type,
                                            std::string_view path) const override {
    const auto found = members.find(std::string(type) + "." + std::string(path));
    return found == members.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view type) const override {
    const auto found = sizes.find(std::string(type));
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::string_view) const override {
    return std::nullopt;
  }
};

// A kernel of one piece of code and data, with symbols at places in it.
inline elf::Image kernel_of(Arch arch, std::uint64_t address, Bytes code,
                            const std::vector<std::pair<const char*, std::uint64_t>>& symbols) {
  elf::ElfWriter writer(arch, arch != Arch::kI386, ET_EXEC);
  writer.add_segment({address}, code.size(), true, true, code);
  std::vector<elf::ElfWriter::Symbol> all;
  for (const auto& [name, offset] : symbols)
    all.push_back({.name = name,
                   .address = {address + offset},
                   .info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)});
  writer.set_symbols(std::move(all));
  auto file = elf::ElfFile::from_bytes(writer.write(), "vmlinux");
  EXPECT_TRUE(file) << file.error().message;
  return {1, "kernel", *file, 0, false};
}

// A vCPU's registers, and the words that it may read.
struct EntryMachine {
  Arch arch = Arch::kUnknown;
  std::size_t word = 8;  // bytes
  arch::Registers registers = {};
  std::map<std::uint64_t, std::uint64_t> memory = {};  // by address

  void store(std::uint64_t at, std::initializer_list<std::uint64_t> words) {
    for (const std::uint64_t value : words) {
      memory[at] = value;
      at += word;
    }
  }
  // With all memory copied; `saved` is the address of a struct pt_regs of `bytes` that is a piece
  // of its own, which comes first.
  [[nodiscard]] wire::Capture capture(std::uint64_t saved = 0, std::uint32_t bytes = 0) const {
    wire::Capture taken;
    taken.arch = arch;
    taken.level = PrivilegeLevel::kKernel;
    taken.registers = registers;
    const auto copy = [&](std::uint64_t from, std::uint32_t size) {
      taken.pieces.push_back({{from},
                              wire::PieceKind::kSystem,
                              size,
                              static_cast<std::uint32_t>(taken.bytes.size()),
                              size});
      for (std::uint64_t at = from; at < from + size; at += word) {
        const auto found = memory.find(at);
        const std::uint64_t value = found == memory.end() ? 0 : found->second;
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        taken.bytes.insert(taken.bytes.end(), raw, raw + word);
      }
    };
    if (saved != 0) copy(saved, bytes);
    for (const auto& [at, value] : memory) copy(at, static_cast<std::uint32_t>(word));
    return taken;
  }
  // Where the recipe finds user code's stack; nothing where it skips that.
  [[nodiscard]] std::optional<std::uint64_t> user_stack(const EntryCode& code) const {
    wire::RecipeBuilder builder;
    const auto sp = builder.slot();
    code.find_user_stack(builder, VcpuId{0}, sp, builder.recipe_end());
    builder.copy_stack(sp, wire::PieceKind::kUserStack);
    const auto recipe = builder.take();
    wire::RecipeRun run(recipe, registers, {});
    while (const auto request = run.next()) {
      if (request->why == wire::PieceKind::kUserStack) return request->address.value;
      if (!request->is_load()) continue;
      const auto found = memory.find(request->read_at.value);
      run.loaded(found == memory.end() ? std::nullopt : std::optional(found->second));
    }
    return std::nullopt;
  }
};

}  // namespace ringside::guestos::testing
