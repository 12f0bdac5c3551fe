#include "guestos/linux/user_registers.h"

#include <span>

namespace ringside::guestos {
namespace {

struct Saved {
  std::uint8_t reg;
  std::string_view name;
};

// arch/*/include/asm/ptrace.h.
std::span<const Saved> x86_64_registers() {
  using namespace arch::x86_64;
  static constexpr Saved kSaved[] = {
      {kRax, "ax"},  {kRdx, "dx"},  {kRcx, "cx"},  {kRbx, "bx"},       {kRsi, "si"},
      {kRdi, "di"},  {kRbp, "bp"},  {kRsp, "sp"},  {kR8, "r8"},        {kR9, "r9"},
      {kR10, "r10"}, {kR11, "r11"}, {kR12, "r12"}, {kR13, "r13"},      {kR14, "r14"},
      {kR15, "r15"}, {kRip, "ip"},  {kCs, "cs"},   {kRflags, "flags"}, {kSs, "ss"}};
  return kSaved;
}

std::span<const Saved> i386_registers() {
  using namespace arch::i386;
  static constexpr Saved kSaved[] = {{kEax, "ax"}, {kEcx, "cx"}, {kEdx, "dx"},       {kEbx, "bx"},
                                     {kEsp, "sp"}, {kEbp, "bp"}, {kEsi, "si"},       {kEdi, "di"},
                                     {kEip, "ip"}, {kCs, "cs"},  {kEflags, "flags"}, {kSs, "ss"}};
  return kSaved;
}

std::span<const Saved> riscv64_registers() {
  using namespace arch::riscv64;
  static constexpr Saved kSaved[] = {
      {1, "ra"},  {2, "sp"},    {3, "gp"},           {4, "tp"},  {5, "t0"},  {6, "t1"},
      {7, "t2"},  {8, "s0"},    {9, "s1"},           {10, "a0"}, {11, "a1"}, {12, "a2"},
      {13, "a3"}, {14, "a4"},   {15, "a5"},          {16, "a6"}, {17, "a7"}, {18, "s2"},
      {19, "s3"}, {20, "s4"},   {21, "s5"},          {22, "s6"}, {23, "s7"}, {24, "s8"},
      {25, "s9"}, {26, "s10"},  {27, "s11"},         {28, "t3"}, {29, "t4"}, {30, "t5"},
      {31, "t6"}, {kPc, "epc"}, {kSstatus, "status"}};
  return kSaved;
}

void save_aarch64(unwind::RegisterFrame& frame, FieldFinder& find) {
  using namespace arch::aarch64;
  const Field general = find.need("pt_regs", {"regs"});
  for (std::uint8_t reg = kX0; reg <= kLr; ++reg)
    frame.save(reg, static_cast<std::int16_t>(general.offset + 8u * reg));
  frame.save(kSp, static_cast<std::int16_t>(find.need("pt_regs", {"sp"}).offset));
  frame.save(kPc, static_cast<std::int16_t>(find.need("pt_regs", {"pc"}).offset));
  frame.save(kCpsr, static_cast<std::int16_t>(find.need("pt_regs", {"pstate"}).offset));
}

// TOP_OF_KERNEL_STACK_PADDING (arch/x86/include/asm/thread_info.h): room for what the hardware
// pushes before the stack is switched (i386 with vm86) or pushes more (x86_64 with FRED).
std::uint64_t padding(const elf::ElfFile& kernel, const FieldFinder& find) {
  if (kernel.arch() == Arch::kI386) return find.maybe("thread_struct", {"vm86"}) ? 16 : 8;
  if (kernel.arch() == Arch::kX86_64)
    return kernel.symbol_named("asm_fred_entrypoint_user") ? 16 : 0;
  return 0;
}

}  // namespace

UserRegisters find_user_registers(const elf::ElfFile& kernel, FieldFinder& find) {
  UserRegisters registers;
  registers.size = find.need_size("pt_regs");
  std::span<const Saved> saved;
  switch (kernel.arch()) {
    case Arch::kX86_64:
      saved = x86_64_registers();
      break;
    case Arch::kI386:
      saved = i386_registers();
      break;
    case Arch::kRiscv64:
      saved = riscv64_registers();
      break;
    case Arch::kAArch64:
      save_aarch64(registers.frame, find);
      break;
    case Arch::kUnknown:
      break;
  }
  for (const auto& [reg, name] : saved)
    registers.frame.save(reg, static_cast<std::int16_t>(find.need("pt_regs", {name}).offset));
  // task_pt_regs() in arch/*/include/asm/processor.h; riscv64 keeps its stack pointer aligned.
  const std::uint64_t aligned =
      kernel.arch() == Arch::kRiscv64 ? (registers.size + 15) / 16 * 16 : registers.size;
  registers.below_stack_end = aligned + padding(kernel, find);
  return registers;
}

}  // namespace ringside::guestos
