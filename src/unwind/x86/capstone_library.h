#pragma once

#include <capstone/capstone.h>

namespace ringside::unwind::x86 {

// The functions of libcapstone that decode. A third of what ringside's start would take is that
// library's: it is opened when x86 code is first decoded.
struct CapstoneLibrary {
  decltype(&::cs_open) open = nullptr;
  decltype(&::cs_close) close = nullptr;
  decltype(&::cs_option) option = nullptr;
  decltype(&::cs_malloc) make_instruction = nullptr;
  decltype(&::cs_free) free_instructions = nullptr;
  decltype(&::cs_disasm_iter) decode = nullptr;
  decltype(&::cs_regs_access) registers = nullptr;

  // $RINGSIDE_LIBCAPSTONE names another file of the library. Null where it cannot be opened; it
  // stays open until the process ends. Any thread may call it.
  [[nodiscard]] static const CapstoneLibrary* instance();
};

}  // namespace ringside::unwind::x86
