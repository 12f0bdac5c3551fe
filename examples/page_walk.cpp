// Translates virtual addresses of an x86_64 guest: page_walk MEMORY-IMAGE CR3 ADDRESS...
//
// MEMORY-IMAGE holds the guest's physical memory from address 0 up, as QEMU's monitor writes it
// with `pmemsave 0 SIZE FILE`. memory::page_tables_of() finds the tables of any architecture by a
// vCPU's registers.
#include "memory/x86_64/page_walk.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/file.h"
#include "memory/address_space.h"

namespace {

using namespace ringside;

class MemoryImage final : public PhysicalMemory {
 public:
  explicit MemoryImage(Bytes bytes) : bytes_(bytes) {}
  Result<std::size_t> read_up_to(GuestPhys address, std::span<std::byte> destination) override {
    if (address.value >= bytes_.size()) return std::size_t{0};
    const Bytes there = bytes_.subspan(address.value);
    const std::size_t size = std::min(there.size(), destination.size());
    std::copy_n(there.begin(), size, destination.begin());
    return size;
  }

 private:
  Bytes bytes_;
};

int translate(const char* path, const char* cr3, char** addresses, int count) {
  const auto file = MappedFile::open(path);
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().message.c_str());
    return 1;
  }
  MemoryImage physical((*file)->bytes());
  const memory::x86_64::LongModeTables tables(std::strtoull(cr3, nullptr, 16), false);
  memory::AddressSpace space(tables, physical);
  for (int i = 0; i < count; ++i) {
    const GuestVirt address{std::strtoull(addresses[i], nullptr, 16)};
    const auto walk = space.walk(address);
    const auto value = space.read_value<std::uint64_t>(address);
    if (walk && walk->end == memory::WalkEnd::kMapped && value)
      std::printf("%s is at %#llx and holds %#llx\n", addresses[i],
                  static_cast<unsigned long long>(walk->address.value),
                  static_cast<unsigned long long>(*value));
    else
      std::printf("%s is not mapped\n", addresses[i]);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc >= 4) return translate(argv[1], argv[2], argv + 3, argc - 3);
  std::fprintf(stderr, "usage: page_walk MEMORY-IMAGE CR3 ADDRESS...\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
