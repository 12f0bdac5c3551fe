#include <algorithm>

#include "guestos/linux/modules/linux_modules.h"

// The input is guest memory from 0xffffffffc0000000 up (0xc0000000 for i386), where the list of
// modules begins; the first byte chooses.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  if (size == 0) return 0;
  const bool is_64 = (data[0] & 1) != 0;
  const std::uint64_t start = is_64 ? 0xffffffffc0000000 : 0xc0000000;
  const Bytes memory(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  const elf::GuestReader read = [&](GuestVirt at,
                                    std::span<std::byte> into) -> Result<std::size_t> {
    const std::uint64_t offset = at.value - start;
    if (offset >= memory.size()) return 0;
    const std::size_t count = std::min<std::size_t>(into.size(), memory.size() - offset);
    std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  };
  std::vector<GuestVirt> lists{{start}};
  if ((data[0] & 2) != 0) lists.push_back({start + 16});  // to be chosen from by what is there
  guestos::LinuxModules modules(lists, is_64 ? Arch::kX86_64 : Arch::kI386);
  if (const auto images = modules.poll(read))
    for (const elf::Image& image : *images) (void)image.file->symbols().size();
  (void)modules.poll(read);
  return 0;
}
