#include "kernel_image/open_elf.h"

#include "base/file.h"
#include "kernel_image/boot_image.h"

namespace ringside::kernel_image {
namespace {

using FilePtr = std::shared_ptr<const elf::ElfFile>;

Result<FilePtr> unpack(Bytes boot_image, const std::string& name) {
  constexpr const char* kHint = "; give its vmlinux with --kernel";
  auto image = read_boot_image(boot_image, name);
  if (!image) return fail(image.error().code, "{}{}", image.error().message, kHint);
  if (image->kind != PayloadKind::kElf)
    return fail(ErrorCode::kUnsupported, "{} is a kernel without ELF headers ({}){}", name,
                image->container, kHint);
  return elf::ElfFile::from_bytes(std::move(image->bytes), name);
}

}  // namespace

Result<FilePtr> open_elf(const std::filesystem::path& path) {
  RINGSIDE_ASSIGN(const auto mapped, MappedFile::open(path));
  if (is_boot_image(mapped->bytes())) return unpack(mapped->bytes(), path.string());
  return elf::ElfFile::open(path);
}

Result<FilePtr> elf_from_bytes(std::vector<std::byte> bytes, const std::string& name) {
  if (is_boot_image(bytes)) return unpack(bytes, name);
  return elf::ElfFile::from_bytes(std::move(bytes), name);
}

}  // namespace ringside::kernel_image
