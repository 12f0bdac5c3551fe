// Prints function, file and line of addresses: symbolize ELF-FILE ADDRESS...
//
// Addresses are those of the file, as nm prints them. A return address belongs to the call before
// it: ask for the byte before.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "elf/elf_file.h"
#include "symbols/demangle.h"
#include "symbols/symbolizer.h"

namespace {

using namespace ringside;

int print_names(const char* path, char** addresses, int count) {
  const auto file = elf::ElfFile::open(path);
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().message.c_str());
    return 1;
  }
  std::vector<symbols::SymbolTable> tables;
  tables.push_back(symbols::SymbolTable::from_elf(*file));
  symbols::Symbolizer symbolizer(std::move(tables), symbols::DwarfSymbols::from_elf(*file));
  for (int i = 0; i < count; ++i) {
    std::printf("%s\n", addresses[i]);
    const auto frames = symbolizer.lookup(ImageAddr{std::strtoull(addresses[i], nullptr, 16)});
    if (frames.empty()) std::printf("  ?\n");
    for (const symbols::SourceFrame& frame : frames) {  // inlined calls first
      const auto name = symbols::demangle(frame.function, symbols::DemangleStyle::kFull);
      std::printf("  %s%s at %s:%u\n", name.c_str(), frame.inlined ? " (inlined)" : "",
                  frame.file.c_str(), frame.line);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc >= 3) return print_names(argv[1], argv + 2, argc - 2);
  std::fprintf(stderr, "usage: symbolize ELF-FILE ADDRESS...\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
