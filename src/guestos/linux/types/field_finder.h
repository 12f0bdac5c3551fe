#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "guestos/linux/types/type_source.h"

namespace ringside::guestos {

// Looks up members and remembers the first that is missing, so that many can be asked for in a row.
class FieldFinder {
 public:
  explicit FieldFinder(const TypeSource& types) : types_(&types) {}

  [[nodiscard]] const TypeSource& types() const { return *types_; }
  // The first of the paths that exists: kernels have renamed and moved members.
  [[nodiscard]] std::optional<Field> maybe(std::string_view type,
                                           std::initializer_list<std::string_view> paths) const;
  [[nodiscard]] Field need(std::string_view type, std::initializer_list<std::string_view> paths);
  [[nodiscard]] std::uint64_t need_size(std::string_view type);
  [[nodiscard]] std::int64_t need_enumerator(std::string_view name);

  // Error kNotFound if anything that was needed is not there.
  [[nodiscard]] Result<void> result(const std::string& file) const;

 private:
  const TypeSource* types_;
  std::string missing_;
};

// The members of one structure, and how much of it must be read to have them all.
class StructFinder {
 public:
  StructFinder(FieldFinder& find, std::string_view type) : find_(&find), type_(type) {}

  template <class... Paths>
  [[nodiscard]] Field need(Paths... paths) {
    return reach(find_->need(type_, {paths...}));
  }
  template <class... Paths>
  [[nodiscard]] std::optional<Field> maybe(Paths... paths) {
    const auto field = find_->maybe(type_, {paths...});
    return field ? std::optional(reach(*field)) : std::nullopt;
  }
  // From the structure's start to the end of the last member that was asked for, in bytes; with
  // members far apart at most 16 KiB, which is more than any structure that is read.
  [[nodiscard]] std::uint32_t extent() const { return std::min(extent_, 1u << 14); }

 private:
  Field reach(Field field) {
    extent_ = std::max(extent_, field.end());
    return field;
  }

  FieldFinder* find_;
  std::string_view type_;
  std::uint32_t extent_ = 0;
};

}  // namespace ringside::guestos
