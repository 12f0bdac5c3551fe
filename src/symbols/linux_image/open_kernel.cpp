#include "symbols/linux_image/open_kernel.h"

#include "base/file.h"
#include "kernel_image/boot_image.h"
#include "symbols/linux_image/kernel_cache.h"
#include "symbols/linux_image/linux_image.h"
#include "symbols/nm/kernel_symbols.h"

namespace ringside::symbols {
namespace {

// A kernel file of any kind: an ELF file, or the flat payload of a boot image.
struct KernelFile {
  std::shared_ptr<const elf::ElfFile> elf;
  kernel_image::BootImage flat;
};

Result<KernelFile> open_file(const std::filesystem::path& path) {
  RINGSIDE_ASSIGN(const auto mapped, MappedFile::open(path));
  KernelFile file;
  if (!kernel_image::is_boot_image(mapped->bytes())) {
    RINGSIDE_ASSIGN(file.elf, elf::ElfFile::open(path));
    return file;
  }
  auto unpacked = kernel_image::read_boot_image(mapped->bytes(), path.string());
  if (!unpacked)
    return fail(unpacked.error().code, "{}; give its vmlinux with --kernel",
                unpacked.error().message);
  if (unpacked->kind == kernel_image::PayloadKind::kElf) {
    RINGSIDE_ASSIGN(file.elf, elf::ElfFile::from_bytes(std::move(unpacked->bytes), path.string()));
  } else {
    file.flat = std::move(*unpacked);
  }
  return file;
}

}  // namespace

Result<std::shared_ptr<const elf::ElfFile>> open_kernel(const std::filesystem::path& path) {
  const KernelCache cache;
  if (auto kept = cache.find(path)) return kept;
  const auto origin = KernelCache::origin_of(path);
  RINGSIDE_ASSIGN(const auto file, open_file(path));
  if (file.elf && !file.elf->symbols().empty()) return file.elf;
  const auto image = file.elf ? read_linux_image(*file.elf) : read_linux_image(file.flat);
  if (!image && file.elf) return file.elf;
  if (!image) return fail(image.error().code, "{}: {}", path.string(), image.error().message);
  std::vector<std::byte> made = make_elf(*image);
  if (auto kept = cache.keep(path, origin, made)) return kept;
  return elf::ElfFile::from_bytes(std::move(made), path.string());
}

Result<std::shared_ptr<const elf::ElfFile>> open_kernel(const std::filesystem::path& path,
                                                        const std::filesystem::path& symbols) {
  RINGSIDE_ASSIGN(const auto file, open_file(path));
  RINGSIDE_ASSIGN(auto list, read_kernel_symbols(symbols));
  if (file.elf && !file.elf->symbols().empty())
    return fail(ErrorCode::kUsage, "{} has symbols of its own; leave out --symbols", path.string());
  // Its own kallsyms, where there is one, shows whether the text is of this kernel.
  const auto own = file.elf ? read_linux_image(*file.elf) : read_linux_image(file.flat);
  std::shared_ptr<const elf::ElfFile> known = file.elf;
  if (own) {
    RINGSIDE_ASSIGN(known, elf::ElfFile::from_bytes(make_elf(*own), path.string()));
  }
  if (known) RINGSIDE_TRY(move_to(*known, symbols.string(), list));
  const auto image = own        ? with_symbols(*own, std::move(list), symbols.string())
                     : file.elf ? read_linux_image(*file.elf, std::move(list), symbols.string())
                                : read_linux_image(file.flat, std::move(list), symbols.string());
  if (!image)
    return fail(image.error().code,
                "{}: {}; record without --symbols, and give it to 'ringside report'", path.string(),
                image.error().message);
  return elf::ElfFile::from_bytes(make_elf(*image), path.string());
}

}  // namespace ringside::symbols
