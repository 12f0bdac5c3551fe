#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "elf/elf_file.h"

namespace ringside::elf {

// The parts of a file that are read when they are first asked for. Apart from ElfFile, because
// <mutex> takes a compiler as long as half of the rest of that header.
struct ElfFile::ReadLater {
  std::mutex mutex;
  std::map<std::size_t, std::vector<std::byte>> decompressed;  // by section number
  std::once_flag symbols_once;
  std::vector<FunctionSymbol> symbols;
  std::vector<ImageAddr> data_in_code;  // where data objects begin, by address
};

}  // namespace ringside::elf
