#pragma once

#include <concepts>
#include <string>

#include "base/little_endian.h"

namespace ringside::exporters {

// Appends a number to the bytes of a binary format, least significant byte first.
template <std::integral Number>
void add(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace ringside::exporters
