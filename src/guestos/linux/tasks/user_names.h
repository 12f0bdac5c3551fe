#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "guestos/process_source.h"

namespace ringside::guestos {

// The largest /etc/passwd that is read, bytes.
inline constexpr std::uint64_t kMaxPasswd = 1u << 20;

// The users of an /etc/passwd, passwd(5): the first line with an id has its name, as getpwuid(3)
// says. A line that does not begin with NAME:PASSWORD:UID:GID: is passed over, and so is one whose
// name has other characters than those of ASCII that are printed: useradd makes none such.
[[nodiscard]] UserNames parse_passwd(Bytes file);

}  // namespace ringside::guestos
