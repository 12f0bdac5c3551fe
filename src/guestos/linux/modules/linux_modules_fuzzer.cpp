#include "base/testing/bytes_memory.h"
#include "guestos/linux/modules/linux_modules.h"

// The input is guest memory from 0xffffffffc0000000 up (0xc0000000 for i386), where the list of
// modules begins; the first byte chooses.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  if (size == 0) return 0;
  const bool is_64 = (data[0] & 1) != 0;
  const std::uint64_t start = is_64 ? 0xffffffffc0000000 : 0xc0000000;
  ringside::testing::BytesMemory memory(
      GuestVirt{start}, Bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1));
  std::vector<GuestVirt> lists{{start}};
  if ((data[0] & 2) != 0) lists.push_back({start + 16});  // to be chosen from by what is there
  guestos::LinuxModules modules(lists, is_64 ? Arch::kX86_64 : Arch::kI386);
  if (const auto images = modules.poll(memory))
    for (const elf::Image& image : *images) (void)image.file->symbols().size();
  (void)modules.poll(memory);
  return 0;
}
