#include "kernel_image/boot_image.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "arch/arch_info.h"
#include "base/little_endian.h"
#include "kernel_image/kernel_compression.h"

namespace ringside::kernel_image {
namespace {

bool has_at(Bytes bytes, std::size_t offset, std::string_view magic) {
  return bytes.size() >= offset + magic.size() &&
         std::memcmp(bytes.data() + offset, magic.data(), magic.size()) == 0;
}

// A little-endian number of a header whose size was checked.
template <class T>
T field(Bytes bytes, std::size_t offset) {
  return bytes.size() >= offset + sizeof(T) ? load<T>(bytes, offset) : T{};
}

bool is_elf(Bytes bytes) { return has_at(bytes, 0, ELFMAG); }
// Documentation/x86/boot.rst: the setup header's magic.
bool is_bzimage(Bytes bytes) { return has_at(bytes, 0x202, "HdrS"); }
// drivers/firmware/efi/libstub/zboot-header.S (Linux 6.1 to 6.12).
bool is_zboot(Bytes bytes) { return has_at(bytes, 0, "MZ") && has_at(bytes, 4, "zimg"); }
// Documentation/arm64/booting.rst
bool is_arm64_image(Bytes bytes) { return has_at(bytes, 0x38, "ARM\x64"); }
// Documentation/riscv/boot-image-header.rst; "magic", which the document calls deprecated and the
// kernel still writes, and "magic2".
bool is_riscv_image(Bytes bytes) {
  return has_at(bytes, 0x30, "RISCV") || has_at(bytes, 0x38, "RSC\x05");
}

Arch elf_arch(Bytes bytes) {
  return arch::arch_of_elf(field<std::uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine)),
                           field<std::uint8_t>(bytes, EI_CLASS) == ELFCLASS64);
}

struct Payload {
  Bytes bytes;
  const char* container;
};

// Documentation/x86/boot.rst, fields setup_sects, version, payload_offset and payload_length.
Result<Payload> bzimage_payload(Bytes bytes, const std::string& name) {
  constexpr std::uint16_t kFirstWithPayload = 0x208;
  constexpr std::size_t kSector = 512;
  const auto version = field<std::uint16_t>(bytes, 0x206);
  if (version < kFirstWithPayload)
    return fail(ErrorCode::kUnsupported,
                "{} is a bzImage of boot protocol {}.{:02}, which does not say where the kernel is "
                "(2.08 does, Linux 2.6.26 and later)",
                name, version >> 8, version & 0xff);
  const std::size_t sectors = field<std::uint8_t>(bytes, 0x1f1);
  const std::size_t protected_mode = ((sectors == 0 ? 4 : sectors) + 1) * kSector;
  const std::size_t offset = protected_mode + field<std::uint32_t>(bytes, 0x248);
  const std::size_t length = field<std::uint32_t>(bytes, 0x24c);
  if (length == 0)  // memtest86+
    return fail(ErrorCode::kUnsupported,
                "{} is a bzImage without a compressed kernel (payload length 0 at 0x24c)", name);
  if (offset > bytes.size() || length > bytes.size() - offset)
    return fail(ErrorCode::kTruncated,
                "{} is a bzImage whose kernel has {:#x} bytes at {:#x}, but the file ends at {:#x}",
                name, length, offset, bytes.size());
  return Payload{bytes.subspan(offset, length), "bzImage"};
}

Result<Payload> zboot_payload(Bytes bytes, const std::string& name) {
  const std::size_t offset = field<std::uint32_t>(bytes, 8);
  const std::size_t length = field<std::uint32_t>(bytes, 12);
  if (offset > bytes.size() || length > bytes.size() - offset || length == 0)
    return fail(ErrorCode::kTruncated,
                "{} is an EFI zboot image whose kernel has {:#x} bytes at {:#x}, but the file ends "
                "at {:#x}",
                name, length, offset, bytes.size());
  return Payload{bytes.subspan(offset, length), "EFI zboot image"};
}

std::optional<BootImage> kernel_itself(Bytes bytes) {
  BootImage image;
  if (is_elf(bytes)) {
    image.arch = elf_arch(bytes);
    image.container = "ELF file";
  } else if (is_arm64_image(bytes) || is_riscv_image(bytes)) {
    image.kind = PayloadKind::kFlat;
    image.arch = is_arm64_image(bytes) ? Arch::kAArch64 : Arch::kRiscv64;
    image.container = is_arm64_image(bytes) ? "arm64 Image" : "riscv64 Image";
    image.text_offset = field<std::uint64_t>(bytes, 8);
    image.memory_size = field<std::uint64_t>(bytes, 16);
  } else {
    return std::nullopt;
  }
  image.bytes.assign(bytes.begin(), bytes.end());
  return image;
}

Result<BootImage> read(Bytes bytes, const std::string& name, std::size_t max_size, int depth) {
  // A zboot image is told before an Image: both are PE files.
  Payload payload{bytes, ""};
  if (is_bzimage(bytes)) {
    RINGSIDE_ASSIGN(payload, bzimage_payload(bytes, name));
  } else if (is_zboot(bytes)) {
    RINGSIDE_ASSIGN(payload, zboot_payload(bytes, name));
  } else if (auto kernel = kernel_itself(bytes)) {
    return std::move(*kernel);
  }
  const std::string container = payload.container;
  const auto compression = compression_of(payload.bytes);
  if (!compression || depth == 0)
    return fail(ErrorCode::kFormat, "{} {}is no kernel that ringside knows", name,
                container.empty() ? "" : "is a " + container + ", but what is in it ");
  auto unpacked = decompress_kernel(*compression, payload.bytes, max_size);
  if (!unpacked)
    return fail(unpacked.error().code, "{}: {}{} cannot be unpacked: {}", name,
                container.empty() ? "" : container + ", ", name_of(*compression),
                unpacked.error().message);
  const std::string how(name_of(*compression));
  BootImage image;
  if (is_elf(*unpacked)) {  // the usual case, without another copy
    image.arch = elf_arch(*unpacked);
    image.bytes = std::move(*unpacked);
  } else {
    RINGSIDE_ASSIGN(image, read(*unpacked, name, max_size, depth - 1));
  }
  const std::string outer = container.empty() ? how : container + " (" + how + ")";
  image.container = image.container.empty() ? outer : outer + " of " + image.container;
  return image;
}

}  // namespace

bool is_boot_image(Bytes bytes) {
  return !is_elf(bytes) && (is_bzimage(bytes) || is_zboot(bytes) || is_arm64_image(bytes) ||
                            is_riscv_image(bytes) || compression_of(bytes));
}

Result<BootImage> read_boot_image(Bytes bytes, const std::string& name, std::size_t max_size) {
  constexpr int kMaxDepth = 4;
  return read(bytes, name, max_size, kMaxDepth);
}

}  // namespace ringside::kernel_image
