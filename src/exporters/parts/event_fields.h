#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/detailed_profile.h"

namespace ringside::exporters {

// The name of the function that a field of kSymbol holds. Empty: it holds none.
[[nodiscard]] std::string_view symbol_name(profile::DetailedProfile& profile, std::int64_t number);

// One field of an event as JSON: a number or a text.
[[nodiscard]] std::string event_field(profile::DetailedProfile& profile,
                                      const profile::TimedEvent& event, std::size_t field);

// The fields of an event as the members of a JSON object: `"sector":8,"command":"R"`. Addresses and
// bytes are text in hexadecimal digits, a symbol is its function's name.
[[nodiscard]] std::string event_fields(profile::DetailedProfile& profile,
                                       const profile::TimedEvent& event);

}  // namespace ringside::exporters
