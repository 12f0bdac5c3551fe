#pragma once

#include <cstdint>

#include "base/types.h"

namespace ringside::symbols {

struct AddressRange {
  ImageAddr begin;
  ImageAddr end;  // behind the last byte

  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  [[nodiscard]] bool contains(ImageAddr at) const { return at >= begin && at < end; }
  bool operator==(const AddressRange&) const = default;
};

}  // namespace ringside::symbols
