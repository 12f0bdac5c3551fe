#include <cstddef>
#include <cstdint>

#include "kernel_image/boot_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxSize = std::size_t{4} << 20;
  const ringside::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  (void)ringside::kernel_image::is_boot_image(bytes);
  (void)ringside::kernel_image::read_boot_image(bytes, "fuzzed", kMaxSize);
  return 0;
}
