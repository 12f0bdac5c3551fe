#include <cstddef>
#include <cstdint>

#include "symbols/dwarf/dwarf_types.h"
#include "symbols/dwarf/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::symbols;
  const auto pieces =
      dwarf::fuzzing::split_pieces({reinterpret_cast<const std::byte*>(data), size});
  const auto file = dwarf::fuzzing::make_file(pieces, 0, false);
  if (!file) return 0;
  const auto types = DwarfTypes::from_elf(file, std::make_shared<dwarf::fuzzing::Files>(pieces));
  if (!types) return 0;
  // The corpus is made of btf/testdata/structures.h.
  for (const char* type :
       {"task_by_name", "task_like", "thread_like", "counter_t", "nothing", ""}) {
    (void)types->size_of(type);
    for (const char* path : {"many", "unnamed_inner", "nested.c.y", "parent.state", "counter", ""})
      (void)types->member(type, path);
  }
  (void)types->enumerator("kGreen");
  (void)types->enumerator("kYellow");
  return 0;
}
