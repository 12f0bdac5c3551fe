#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "base/types.h"

namespace ringside::kernel_image {

enum class PayloadKind {
  kElf,   // an ELF file; x86 appends relocation data that no ELF header speaks of
  kFlat,  // the bytes as they lie in memory from the kernel's first address (_text) on
};

// A Linux kernel taken out of the file that a boot loader loads.
struct BootImage {
  std::vector<std::byte> bytes;
  PayloadKind kind = PayloadKind::kElf;
  Arch arch = Arch::kUnknown;
  std::string container;  // for people: "bzImage (lz4)", "EFI zboot image (gzip)", "arm64 Image"
  // A flat image (Documentation/arm64/booting.rst, Documentation/riscv/boot-image-header.rst) is
  // loaded `text_offset` bytes above a 2 MiB boundary, and needs `memory_size` bytes there, its
  // .bss included. Where it runs is not in it.
  std::uint64_t text_offset = 0;
  std::uint64_t memory_size = 0;
};

inline constexpr std::size_t kMaxKernelSize = std::size_t{1} << 30;

// By its first bytes: x86's bzImage, arm64's and riscv64's Image, an EFI zboot image (vmlinuz.efi),
// or something compressed that may be one of them. False for an ELF file.
[[nodiscard]] bool is_boot_image(Bytes bytes);

// The kernel in a boot image. Compressed bytes in compressed bytes (Image.gz) are followed to a
// depth of 4. Errors name `name` and the offset; a kernel of more than `max_size` bytes is refused.
[[nodiscard]] Result<BootImage> read_boot_image(Bytes bytes, const std::string& name,
                                                std::size_t max_size = kMaxKernelSize);

}  // namespace ringside::kernel_image
