#pragma once

#include "core/types.h"

// Half, three tenths and two tenths of the work, each under two chains of different depth. One
// round of the workloads `chains` and `idle`.
extern "C" void chains_round();

inline constexpr const char* kChainFunctions[] = {"checksum_page", "copy_page", "search_tree"};
