#include "guestos/linux/types/field_finder.h"

namespace ringside::guestos {

std::optional<Field> FieldFinder::maybe(std::string_view type,
                                        std::initializer_list<std::string_view> paths) const {
  for (const std::string_view path : paths)
    if (const auto field = types_->member(type, path)) return field;
  return std::nullopt;
}

Field FieldFinder::need(std::string_view type, std::initializer_list<std::string_view> paths) {
  const auto field = maybe(type, paths);
  if (!field && missing_.empty())
    missing_ = fmt::format("struct {} has no {}", type, *paths.begin());
  return field.value_or(Field{});
}

std::uint64_t FieldFinder::need_size(std::string_view type) {
  const auto size = types_->size_of(type);
  if (!size && missing_.empty()) missing_ = fmt::format("there is no struct {}", type);
  return size.value_or(0);
}

std::int64_t FieldFinder::need_enumerator(std::string_view name) {
  const auto value = types_->enumerator(name);
  if (!value && missing_.empty()) missing_ = fmt::format("there is no enumerator {}", name);
  return value.value_or(0);
}

Result<void> FieldFinder::result(const std::string& file) const {
  if (missing_.empty()) return {};
  return fail(ErrorCode::kNotFound, "{}: in the kernel's types {}", file, missing_);
}

}  // namespace ringside::guestos
