#include "annotation/llvm_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "arch/arch_info.h"

namespace ringside::annotation {
namespace {

constexpr int kNewest = 22;
constexpr int kOldest = 13;

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

// As LLVM's functions are named: LLVMInitializeX86Disassembler.
const char* target_name(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
    case Arch::kI386:
      return "X86";
    case Arch::kAArch64:
      return "AArch64";
    case Arch::kRiscv64:
      return "RISCV";
    default:
      return "";
  }
}

}  // namespace

std::vector<std::string> LlvmLibrary::usual_names() {
  std::vector<std::string> names;
  for (int version = kNewest; version >= kOldest; --version) {
    names.push_back(fmt::format("libLLVM.so.{}.1", version));
    names.push_back(fmt::format("libLLVM-{}.so.1", version));
  }
  return names;
}

Result<LlvmLibrary> LlvmLibrary::open(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    LlvmLibrary library;
    library.handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library.handle != nullptr &&
        find(library.handle, "LLVMCreateDisasmCPUFeatures", library.create) &&
        find(library.handle, "LLVMDisasmDispose", library.dispose) &&
        find(library.handle, "LLVMSetDisasmOptions", library.set_options) &&
        find(library.handle, "LLVMDisasmInstruction", library.disassemble))
      return library;
  }
  return fail(ErrorCode::kNotFound,
              "instructions have no text: there is no LLVM library; install the package libllvm19 "
              "or libllvm14, or name the library's file in $RINGSIDE_LIBLLVM");
}

Result<void> LlvmLibrary::prepare(Arch arch) const {
  const std::string target = target_name(arch);
  for (const char* part : {"TargetInfo", "TargetMC", "Disassembler"}) {
    void (*initialize)() = nullptr;
    if (target.empty() || !find(handle, ("LLVMInitialize" + target + part).c_str(), initialize))
      return fail(ErrorCode::kUnsupported,
                  "instructions have no text: the LLVM library does not disassemble {}",
                  arch::name_of(arch));
    initialize();
  }
  return {};
}

}  // namespace ringside::annotation
