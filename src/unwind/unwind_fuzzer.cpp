// An ELF file from outside, unwound: its call-frame tables are indexed, its functions analysed, and
// a synthetic stack walked from some of its functions, with every word of the stack an address in
// it; as a kernel's, and as a program's, whose functions need not have symbols.

#include <cstddef>
#include <cstdint>

#include "arch/arch_info.h"
#include "unwind/cfi/table.h"
#include "unwind/fuzzed_stack.h"
#include "unwind/unwinder.h"
#include "unwind/user/user_unwinder.h"

namespace {

using namespace ringside;

constexpr std::size_t kMaxFunctions = 12;

// The file's own architecture, or x86_64's.
const arch::ArchInfo& info_of(const elf::ElfFile& file) {
  const arch::ArchInfo* platform = arch::find_info(file.arch());
  return platform == nullptr ? arch::kX86_64Info : *platform;
}

wire::Capture synthetic_capture(const elf::ElfFile& file, ImageAddr pc) {
  std::vector<std::uint64_t> words(128);
  const auto& symbols = file.symbols();
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = i % 3 == 0 || symbols.empty() ? unwind::kFuzzedStack + i * 8 + 16
                                             : symbols[i % symbols.size()].address.value + i % 5;
  return unwind::capture_at(info_of(file), pc.value, std::as_bytes(std::span(words)));
}

// Spread over what is executable.
std::vector<ImageAddr> places_in(const elf::ElfFile& file) {
  std::vector<ImageAddr> places;
  for (const elf::Segment& segment : file.segments())
    for (std::uint64_t i = 0; segment.executable && i < 4 && places.size() < kMaxFunctions; ++i)
      places.push_back(segment.address + segment.file_size / 4 * i + i);
  return places;
}

void unwind_as_program(const std::shared_ptr<const elf::ElfFile>& file) {
  const unwind::UserCode code({{.start = {}, .end = {~std::uint64_t{0}}, .file = file}});
  unwind::UserUnwinder unwinder;
  std::vector<ImageAddr> places = places_in(*file);
  places.push_back(file->entry());
  for (const ImageAddr place : places) {
    const wire::Capture capture = synthetic_capture(*file, place);
    (void)unwinder.unwind(info_of(*file).id, capture.registers, capture, code);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto file = elf::ElfFile::from_bytes({bytes, bytes + size}, "fuzzed");
  if (!file) return 0;
  elf::ImageMap images;
  images.add({.id = 1, .name = "fuzzed", .file = *file, .load_bias = 0});
  unwind::Unwinder unwinder(images);
  unwind::cfi::Table table(*file, info_of(**file));
  (void)unwinder.unwind(synthetic_capture(**file, (*file)->entry()));
  unwind_as_program(*file);
  std::size_t count = 0;
  for (const auto& symbol : (*file)->symbols()) {
    if (++count > kMaxFunctions) break;
    for (std::uint64_t offset = 0; offset < 12; offset += 3) {
      (void)table.find(symbol.address + offset);
      (void)table.find_compact(symbol.address + offset);
      const wire::Capture capture = synthetic_capture(**file, symbol.address + offset);
      (void)unwinder.unwind(capture);
      (void)unwinder.user_entry(capture);
    }
  }
  return 0;
}
