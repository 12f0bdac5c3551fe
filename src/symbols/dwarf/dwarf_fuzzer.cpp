#include <cstddef>
#include <cstdint>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/dwarf/fuzzed_file.h"

namespace {

using namespace ringside;
using namespace ringside::symbols;
using dwarf::fuzzing::make_file;
using dwarf::fuzzing::Piece;

// File 1 is the .dwo file or the .dwp file, file 2 the alternate file.
class Files final : public SupplementaryFiles {
 public:
  explicit Files(const std::vector<Piece>& pieces) : pieces_(pieces) {}
  std::shared_ptr<const elf::ElfFile> alternate(const elf::ElfFile&) override {
    return make_file(pieces_, 2, false);
  }
  std::shared_ptr<const elf::ElfFile> package(const elf::ElfFile&) override {
    auto file = make_file(pieces_, 1, true);
    return file && file->section(".debug_cu_index") ? file : nullptr;
  }
  std::shared_ptr<const elf::ElfFile> split(const elf::ElfFile&, std::string_view,
                                            std::string_view) override {
    return make_file(pieces_, 1, true);
  }

 private:
  const std::vector<Piece>& pieces_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto pieces =
      dwarf::fuzzing::split_pieces({reinterpret_cast<const std::byte*>(data), size});
  const auto file = make_file(pieces, 0, false);
  if (!file) return 0;
  const auto symbols = DwarfSymbols::from_elf(file, std::make_shared<Files>(pieces));
  if (!symbols) return 0;
  // The corpus' code lies there.
  for (std::uint64_t address = 0x401000; address < 0x401300; address += 24)
    (void)symbols->lookup({address});
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{0}})
    (void)symbols->lookup({address});
  return 0;
}
