#include "arch/pci.h"

#include "arch/io.h"

namespace {

constexpr u16 kAddressPort = 0xcf8, kDataPort = 0xcfc;
constexpr u32 kEnabled = 1u << 31;
constexpr u32 kDevices = 32, kFunctions = 8;

}  // namespace

u32 read_pci(u32 place, u8 offset) {
  out32(kAddressPort, place | offset);
  return in32(kDataPort);
}

void write_pci(u32 place, u8 offset, u32 value) {
  out32(kAddressPort, place | offset);
  out32(kDataPort, value);
}

u32 find_pci_device(u16 vendor, u16 device, u32 n) {
  for (u32 number = 0; number < kDevices * kFunctions; ++number) {
    const u32 place = kEnabled | number << 8;
    if (read_pci(place, 0) == (vendor | static_cast<u32>(device) << 16) && n-- == 0) return place;
  }
  return 0;
}
