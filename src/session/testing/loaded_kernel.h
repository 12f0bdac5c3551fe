#pragma once

#include <elf.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "elf/elf_writer.h"
#include "engines/testing/fake_engine.h"
#include "session/kernel/kernel_watch.h"

namespace ringside::session::testing {

// An arm64 guest whose boot loader, which the machine boots, has loaded a kernel. Both have vectors
// at the start of their code. No other memory is there.
struct LoadedKernel {
  static constexpr std::uint64_t kLoader = 0xffffffc008010000;
  static constexpr std::uint64_t kKernel = 0xffffffc009010000;
  static constexpr std::uint64_t kElsewhere = 0xffffffc00a010000;

  LoadedKernel() {
    engine_.on_read = [this](std::span<std::byte> into) -> Result<std::size_t> {
      for (const auto& file : {loader_, kernel_}) {
        const Bytes bytes = file->bytes_at({engine_.read_at.value}, into.size());
        if (bytes.empty()) continue;
        std::copy(bytes.begin(), bytes.end(), into.begin());
        return bytes.size();
      }
      if (failure_) return tl::unexpected<Error>(*failure_);
      return std::size_t{0};
    };
    engine_.no_registers = Error{ErrorCode::kTimeout, "all vCPUs are idle"};
    engine_.registers.set(arch::aarch64::kVbarEl1, kLoader);
  }

  static void put_kernel_pc(wire::Capture& capture, std::uint64_t pc) {
    capture.arch = Arch::kAArch64;
    capture.level = PrivilegeLevel::kKernel;
    capture.disposition = wire::Disposition::kSampled;
    capture.registers.set(arch::aarch64::kPc, pc + 0x100);
    capture.registers.set(arch::aarch64::kSp, kElsewhere);
    capture.registers.set(arch::aarch64::kCpsr, 5);  // EL1h
  }
  [[nodiscard]] KernelRequest request() const {
    return {.file = loader_, .is_given = false, .candidates = {kernel_}};
  }

  // Code without a jump.
  static std::shared_ptr<const elf::ElfFile> make_file(const char* name, std::uint64_t at,
                                                       std::uint32_t register_number) {
    std::vector<std::byte> code;
    for (std::uint32_t i = 0; i < 0x1000; i += 4)
      append(0x91000000 | i << 10 | register_number, 4, code);  // add x, x0, i
    elf::ElfWriter writer(Arch::kAArch64, true, ET_EXEC);
    writer.add_segment({at}, code.size(), true, false, code);
    writer.set_symbols({{"vectors", {at}, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}});
    return elf::ElfFile::from_bytes(writer.write(), name).value();
  }

  std::shared_ptr<const elf::ElfFile> loader_ = make_file("loader", kLoader, 1);
  std::shared_ptr<const elf::ElfFile> kernel_ = make_file("kernel", kKernel, 2);
  std::optional<Error> failure_;  // of reads elsewhere
  engines::testing::FakeEngine engine_{1};
};

}  // namespace ringside::session::testing
