#include "guestos/linux/type_source.h"

#include "symbols/btf/btf.h"

namespace ringside::guestos {
namespace {

class BtfTypes final : public TypeSource {
 public:
  explicit BtfTypes(symbols::Btf btf) : btf_(std::move(btf)) {}

  [[nodiscard]] std::optional<Field> member(std::string_view type,
                                            std::string_view path) const override {
    const auto found = btf_.member(type, path);
    if (!found || found->bit_size != 0) return std::nullopt;
    const auto size = btf_.size_of(found->type);
    constexpr std::uint64_t kLimit = 1u << 30;
    if (found->offset() > kLimit || size.value_or(0) > kLimit) return std::nullopt;
    return Field{static_cast<std::uint32_t>(found->offset()),
                 static_cast<std::uint32_t>(size.value_or(0))};
  }
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view type) const override {
    return btf_.size_of(type);
  }
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::string_view name) const override {
    return btf_.enumerator(name);
  }

 private:
  symbols::Btf btf_;
};

}  // namespace

Result<std::unique_ptr<TypeSource>> open_types(const elf::ElfFile& kernel) {
  const auto section = kernel.section(".BTF");
  if (!section || section->bytes.empty())
    return fail(ErrorCode::kNotFound,
                "{}: no types: the kernel was built without CONFIG_DEBUG_INFO_BTF", kernel.name());
  auto btf = symbols::Btf::parse(section->bytes);
  if (!btf) return fail(btf.error().code, "{}: {}", kernel.name(), btf.error().message);
  return std::make_unique<BtfTypes>(std::move(*btf));
}

}  // namespace ringside::guestos
