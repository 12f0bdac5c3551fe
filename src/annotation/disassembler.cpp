#include "annotation/disassembler.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "annotation/riscv_targets.h"
#include "arch/arch_info.h"

namespace ringside::annotation {
namespace {

// llvm-c/Disassembler.h and DisassemblerTypes.h.
constexpr std::uint64_t kPrintImmediatesInHex = 2;
constexpr std::uint64_t kIntelSyntax = 4;
constexpr std::uint64_t kReferenceInBranch = 1;

constexpr std::size_t kLongest = 16;  // bytes of an instruction, of x86 15

struct Target {
  const char* triple;
  const char* features;
};

// Every extension that kernels and programs are built for: code that ran is code of its processor.
Target target_of(Arch arch) {
  switch (arch) {
    case Arch::kI386:
      return {"i386", ""};
    case Arch::kAArch64:
      return {"aarch64", "+v8.5a,+fullfp16,+crypto,+sve2,+mte,+rand"};
    case Arch::kRiscv64:
      return {"riscv64", "+m,+a,+f,+d,+c"};
    default:
      return {"x86_64", ""};
  }
}

const char* find_target(void* data, std::uint64_t value, std::uint64_t* reference, std::uint64_t,
                        const char** name) {
  *name = nullptr;
  const bool is_branch = *reference == kReferenceInBranch;
  *reference = 0;
  if (!is_branch) return nullptr;
  BranchOperand& operand = *static_cast<BranchOperand*>(data);
  operand.target = value;
  operand.text = target_text(value);
  return operand.text.c_str();
}

// LLVM puts tabs before the mnemonic and the operands.
std::string tidy(std::string_view text) {
  std::string tidied;
  for (const char c : text) {
    const char shown = c == '\t' || c == '\n' ? ' ' : c;
    if (shown != ' ' || (!tidied.empty() && tidied.back() != ' ')) tidied += shown;
  }
  while (tidied.ends_with(' ')) tidied.pop_back();
  return tidied;
}

bool is_prefix(std::string_view text) {
  const std::string_view last = text.substr(text.rfind(' ') + 1);
  return last == "lock" || last == "rep" || last == "repne";
}

bool is_call(std::string_view text) {
  const std::string_view mnemonic = text.substr(0, text.find(' '));
  return mnemonic.starts_with("call") || mnemonic.starts_with("lcall") || mnemonic == "bl" ||
         mnemonic.starts_with("blr") || mnemonic == "jal" || mnemonic == "jalr" ||
         mnemonic == "c.jalr";
}

}  // namespace

std::string target_text(std::uint64_t target) { return fmt::format("{:#x}", target); }

Result<Disassembler> Disassembler::create(const LlvmLibrary& library, Arch arch, Syntax syntax) {
  RINGSIDE_TRY(library.prepare(arch));
  Disassembler made(library, arch);
  const Target target = target_of(arch);
  made.context_ = library.create(target.triple, "", target.features, made.operand_.get(), 0,
                                 nullptr, find_target);
  if (made.context_ == nullptr)
    return fail(ErrorCode::kUnsupported,
                "instructions have no text: the LLVM library does not disassemble {}",
                arch::name_of(arch));
  const bool is_x86 = arch == Arch::kX86_64 || arch == Arch::kI386;
  // The syntax first: it makes a printer without the other options. Where an option is not there
  // the text is only written another way.
  if (is_x86 && syntax == Syntax::kIntel)
    static_cast<void>(library.set_options(made.context_, kIntelSyntax));
  static_cast<void>(library.set_options(made.context_, kPrintImmediatesInHex));
  return made;
}

Disassembler::Disassembler(Disassembler&& other) noexcept
    : library_(other.library_),
      arch_(other.arch_),
      operand_(std::move(other.operand_)),
      context_(std::exchange(other.context_, nullptr)) {}

Disassembler::~Disassembler() {
  if (context_ != nullptr) library_.dispose(context_);
}

Instruction Disassembler::no_instruction(Bytes code, std::uint64_t address) const {
  const bool is_x86 = arch_ == Arch::kX86_64 || arch_ == Arch::kI386;
  // The lowest two bits of a RISC-V instruction of 4 bytes are set.
  const bool is_short = arch_ == Arch::kRiscv64 && (std::to_integer<unsigned>(code[0]) & 3) != 3;
  const std::size_t size = std::min<std::size_t>(code.size(), is_x86 ? 1 : is_short ? 2 : 4);
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(code[i]);
  Instruction made;
  made.address = address;
  made.size = static_cast<std::uint8_t>(size);
  made.text = fmt::format("{} {:#0{}x}", is_x86 ? ".byte" : ".inst", value, 2 + 2 * size);
  return made;
}

// LLVM takes some prefixes of x86 for instructions of their own, as they stand in assembly.
Instruction Disassembler::first(Bytes code, std::uint64_t address) {
  Instruction made = decoded(code, address);
  for (std::size_t i = 1; i < kLongest && is_prefix(made.text) && made.size < code.size(); ++i) {
    Instruction rest = decoded(code.subspan(made.size), address + made.size);
    made.size = static_cast<std::uint8_t>(made.size + rest.size);
    made.text += " " + rest.text;
    made.target = rest.target;
    made.is_call = rest.is_call;
  }
  return made;
}

Instruction Disassembler::decoded(Bytes code, std::uint64_t address) {
  // LLVM's function takes bytes that it may write to.
  std::array<std::uint8_t, kLongest> bytes{};
  const std::size_t size = std::min(code.size(), bytes.size());
  std::memcpy(bytes.data(), code.data(), size);
  std::array<char, 256> text{};
  operand_->target.reset();
  const std::size_t used =
      library_.disassemble(context_, bytes.data(), size, address, text.data(), text.size());
  if (used == 0 || used > size) return no_instruction(code, address);
  Instruction made;
  made.address = address;
  made.size = static_cast<std::uint8_t>(used);
  made.text = tidy(text.data());
  made.target = operand_->target;
  made.is_call = is_call(made.text);
  if (arch_ == Arch::kRiscv64) name_riscv_target(code.first(used), made);
  return made;
}

std::vector<Instruction> Disassembler::all(Bytes code, std::uint64_t address) {
  std::vector<Instruction> found;
  for (std::size_t at = 0; at < code.size(); at += found.back().size)
    found.push_back(first(code.subspan(at), address + at));
  return found;
}

}  // namespace ringside::annotation
