#include "unwind/x86/decoder.h"

#include "arch/arch_info.h"
#include "unwind/x86/capstone_library.h"
#include "unwind/x86/register_number.h"
#include "unwind/x86/translation.h"

namespace ringside::unwind::x86 {
namespace {

std::uint32_t written(const CapstoneLibrary& library, csh handle, const cs_insn& instruction,
                      Arch arch) {
  cs_regs reads;
  cs_regs writes;
  std::uint8_t read_count = 0;
  std::uint8_t write_count = 0;
  if (library.registers(handle, &instruction, reads, &read_count, writes, &write_count) !=
      CS_ERR_OK)
    return 0;
  std::uint32_t mask = 0;
  for (std::uint8_t i = 0; i < write_count; ++i)
    if (const std::uint8_t reg = register_number(arch, writes[i]); reg != kNoRegister)
      mask |= 1u << reg;
  return mask;
}

}  // namespace

Decoder::Decoder(const arch::ArchInfo& platform)
    : platform_(platform), library_(CapstoneLibrary::instance()) {
  csh handle = 0;
  const cs_mode mode = platform.id == Arch::kX86_64 ? CS_MODE_64 : CS_MODE_32;
  if (library_ == nullptr || library_->open(CS_ARCH_X86, mode, &handle) != CS_ERR_OK) return;
  library_->option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  handle_ = handle;
  instruction_ = library_->make_instruction(handle);
}

Decoder::~Decoder() {
  if (handle_ == 0) return;
  library_->free_instructions(static_cast<cs_insn*>(instruction_), 1);
  csh handle = handle_;
  library_->close(&handle);
}

Instruction Decoder::decode(Bytes bytes, ImageAddr address) {
  Instruction result{.operation = Operation::kStop};
  const auto* code = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t size = bytes.size();
  std::uint64_t at = address.value;
  auto* instruction = static_cast<cs_insn*>(instruction_);
  if (handle_ == 0 || !library_->decode(handle_, &code, &size, &at, instruction)) return result;
  result.operation = Operation::kOther;
  result.size = static_cast<std::uint8_t>(instruction->size);
  Translation(*instruction, platform_, result).run();
  result.writes = written(*library_, handle_, *instruction, platform_.id);
  return result;
}

}  // namespace ringside::unwind::x86
