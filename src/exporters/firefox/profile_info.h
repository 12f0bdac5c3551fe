#pragma once

#include <cstdint>
#include <span>

#include "exporters/parts/json_text.h"
#include "profile/profile.h"
#include "recording/events.h"

namespace ringside::exporters::firefox {

// The member "meta", with a comma behind. `end_ns`: the viewer leaves out what comes later;
// `visible`: indexes of the threads that are shown first.
void write_profile_info(JsonText& json, const profile::Profile& profile,
                        std::span<const recording::EventType> types, std::uint64_t end_ns,
                        std::span<const std::uint32_t> visible);

}  // namespace ringside::exporters::firefox
