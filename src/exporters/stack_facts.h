#pragma once

#include "findings/facts.h"
#include "profile/profile.h"

namespace ringside::exporters {

// How far the stacks of a profile's recording go.
[[nodiscard]] findings::StackFacts stack_facts(const profile::Profile& profile);

}  // namespace ringside::exporters
