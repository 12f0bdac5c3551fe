#include "unwind/x86/frame_pointer_use.h"

#include <algorithm>
#include <array>

namespace ringside::unwind::x86 {
namespace {

constexpr std::size_t kProbes = 64;
// endbr, a call of __fentry__ and pushes may come first.
constexpr std::size_t kPrologue = 32;

// mov %esp, %ebp in both of its encodings; with REX.W in front it is mov %rsp, %rbp.
bool sets_frame_pointer(Bytes code) {
  constexpr std::array<std::array<std::byte, 2>, 2> kMoves = {
      {{std::byte{0x89}, std::byte{0xe5}}, {std::byte{0x8b}, std::byte{0xec}}}};
  return std::any_of(kMoves.begin(), kMoves.end(), [code](const auto& move) {
    return std::search(code.begin(), code.end(), move.begin(), move.end()) != code.end();
  });
}

}  // namespace

bool keeps_frame_pointers(const elf::ElfFile& file) {
  std::vector<ImageAddr> functions;
  // A text such as System.map does not say how long functions are.
  for (const std::uint64_t least : {kPrologue, std::size_t{0}})
    if (functions.empty())
      for (const elf::FunctionSymbol& symbol : file.symbols())
        if (symbol.is_function && symbol.size >= least) functions.push_back(symbol.address);
  return keeps_frame_pointers(file, functions);
}

bool keeps_frame_pointers(const elf::ElfFile& file, std::span<const ImageAddr> functions) {
  const std::size_t stride = functions.size() / kProbes + 1;
  std::size_t looks = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < functions.size(); i += stride) {
    ++looks;
    if (sets_frame_pointer(file.bytes_at(functions[i], kPrologue))) ++found;
  }
  // Leaf functions have none, and code without frame pointers has one where it realigns its stack.
  return looks == 0 || found * 4 >= looks;
}

}  // namespace ringside::unwind::x86
