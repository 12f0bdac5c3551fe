#pragma once

#include "arch/arch_info.h"
#include "wire/capture.h"

namespace ringside::unwind {

// For fuzzers: a vCPU in kernel code at `pc` whose stack is `stack`, and whose registers are places
// in it.
constexpr std::uint64_t kFuzzedStack = 0xffff888000000000;

inline wire::Capture capture_at(const arch::ArchInfo& platform, std::uint64_t pc, Bytes stack) {
  wire::Capture capture;
  capture.arch = platform.id;
  capture.level = PrivilegeLevel::kKernel;
  for (std::size_t reg = 0; reg < 32; ++reg) capture.registers.set(reg, kFuzzedStack + reg * 8);
  capture.registers.set(platform.roles.sp, kFuzzedStack);
  capture.registers.set(platform.roles.pc, pc);
  capture.bytes.assign(stack.begin(), stack.end());
  const auto size = static_cast<std::uint32_t>(stack.size());
  capture.pieces.push_back({{kFuzzedStack}, wire::PieceKind::kCurrentStack, size, 0, size});
  return capture;
}

}  // namespace ringside::unwind
