#pragma once

#include "elf/image_map.h"

namespace ringside::bench {

// How long ringside's tables of an image take to build, and how large they are.
void add_table_benchmarks(const elf::Image& image);

}  // namespace ringside::bench
