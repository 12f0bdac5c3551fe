#include "guestos/linux/types/type_source.h"

#include <utility>

#include "guestos/linux/release.h"
#include "symbols/btf/btf.h"
#include "symbols/dwarf/dwarf_types.h"

namespace ringside::guestos {
namespace {

// A field, where it can be one: structures are smaller.
std::optional<Field> field_of(std::uint64_t offset, std::uint64_t size) {
  constexpr std::uint64_t kLimit = 1u << 30;
  if (offset > kLimit || size > kLimit) return std::nullopt;
  return Field{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)};
}

class BtfTypes final : public TypeSource {
 public:
  BtfTypes(std::shared_ptr<const elf::ElfFile> file, symbols::Btf btf)
      : file_(std::move(file)), btf_(std::move(btf)) {}

  [[nodiscard]] std::optional<Field> member(std::string_view type,
                                            std::string_view path) const override {
    const auto found = btf_.member(type, path);
    if (!found || found->bit_size != 0) return std::nullopt;
    return field_of(found->offset(), btf_.size_of(found->type).value_or(0));
  }
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view type) const override {
    return btf_.size_of(type);
  }
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::string_view name) const override {
    return btf_.enumerator(name);
  }

 private:
  std::shared_ptr<const elf::ElfFile> file_;
  symbols::Btf btf_;
};

class DwarfTypeSource final : public TypeSource {
 public:
  explicit DwarfTypeSource(std::unique_ptr<symbols::DwarfTypes> dwarf) : dwarf_(std::move(dwarf)) {}

  [[nodiscard]] std::optional<Field> member(std::string_view type,
                                            std::string_view path) const override {
    const auto found = dwarf_->member(type, path);
    if (!found || found->is_bit_field) return std::nullopt;
    return field_of(found->offset, found->size);
  }
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view type) const override {
    return dwarf_->size_of(type);
  }
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::string_view name) const override {
    return dwarf_->enumerator(name);
  }

 private:
  std::unique_ptr<symbols::DwarfTypes> dwarf_;
};

}  // namespace

std::unique_ptr<TypeSource> types_by_dwarf(std::shared_ptr<const elf::ElfFile> kernel,
                                           const symbols::DebugFileOptions& options) {
  const auto files = std::make_shared<symbols::DebugFiles>(options);
  auto dwarf = symbols::DwarfTypes::from_elf(kernel, files);
  if (!dwarf)
    if (auto separate = files->separate(*kernel))
      dwarf = symbols::DwarfTypes::from_elf(std::move(separate), files);
  return dwarf ? std::make_unique<DwarfTypeSource>(std::move(dwarf)) : nullptr;
}

Result<std::unique_ptr<TypeSource>> open_types(std::shared_ptr<const elf::ElfFile> kernel,
                                               const symbols::DebugFileOptions& options) {
  if (const auto section = kernel->section(".BTF"); section && !section->bytes.empty()) {
    auto btf = symbols::Btf::parse(section->bytes);
    if (!btf) return fail(btf.error().code, "{}: {}", kernel->name(), btf.error().message);
    return std::make_unique<BtfTypes>(std::move(kernel), std::move(*btf));
  }
  if (auto types = types_by_dwarf(kernel, options)) return types;
  const std::string release = linux_release(*kernel);
  return fail(ErrorCode::kNotFound,
              "the kernel {} has no types (CONFIG_DEBUG_INFO_BTF); give its file with debug "
              "information by --kernel vmlinux{}",
              release.empty() ? kernel->name() : release,
              release.empty() ? std::string()
                              : fmt::format(" (Debian: package linux-image-{0}-dbg, "
                                            "/usr/lib/debug/boot/vmlinux-{0})",
                                            release));
}

}  // namespace ringside::guestos
