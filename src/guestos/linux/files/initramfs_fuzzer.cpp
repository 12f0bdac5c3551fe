#include "guestos/linux/files/initramfs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto initramfs = guestos::Initramfs::from_bytes(bytes, std::size_t{4} << 20))
    (void)initramfs->find("/usr/bin/tool");
  return 0;
}
