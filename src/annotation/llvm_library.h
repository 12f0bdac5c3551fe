#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace ringside::annotation {

// The few functions of LLVM's C interface that disassemble (llvm-c/Disassembler.h), whose types
// have not changed since LLVM 3. The library is opened when it is first needed, for it is large and
// most commands need none of it.
struct LlvmLibrary {
  using Context = void*;
  // Gives the text of an operand that is an address; null: the number stays.
  using SymbolLookup = const char* (*)(void* data, std::uint64_t value, std::uint64_t* reference,
                                       std::uint64_t address, const char** name);

  Context (*create)(const char* triple, const char* cpu, const char* features, void* data,
                    int tag_type, void* operand_info, SymbolLookup lookup) = nullptr;
  void (*dispose)(Context) = nullptr;
  int (*set_options)(Context, std::uint64_t options) = nullptr;
  // The size of the instruction at the start of `bytes`; 0: it is none.
  std::size_t (*disassemble)(Context, std::uint8_t* bytes, std::uint64_t size,
                             std::uint64_t address, char* text, std::size_t text_size) = nullptr;
  void* handle = nullptr;

  // Names that distributions give the library, the newest release first.
  [[nodiscard]] static std::vector<std::string> usual_names();
  // The first of `names` that can be opened; it stays open until the process ends. Error kNotFound:
  // names the packages to install.
  [[nodiscard]] static Result<LlvmLibrary> open(const std::vector<std::string>& names);
  // Prepares what an architecture needs. Error kUnsupported: the library is built without it.
  [[nodiscard]] Result<void> prepare(Arch arch) const;
};

}  // namespace ringside::annotation
