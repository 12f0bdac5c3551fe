#include <cstddef>
#include <cstdint>

#include "symbols/btf/btf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using ringside::symbols::Btf;
  const ringside::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  (void)ringside::symbols::find_btf(bytes);
  const auto btf = Btf::parse(bytes);
  if (!btf) return 0;
  for (Btf::TypeId id = 0; id < btf->type_count() + 2 && id < 200; ++id) {
    (void)btf->size_of(id);
    (void)btf->member(id, "unnamed_inner");
    (void)btf->member(id, "nested.c.x");
  }
  (void)btf->enumerator("kRed");
  return 0;
}
