#pragma once

#include "arch/io.h"

// An item of QEMU's firmware configuration device (docs/specs/fw_cfg), little endian. One vCPU at a
// time reads.
constexpr u16 kFwCfgRamBytes = 3, kFwCfgVcpus = 5;

INLINE u64 read_fw_cfg(u16 key, u32 bytes) {
  constexpr u16 kSelector = 0x510, kData = 0x511;
  out16(kSelector, key);
  u64 value = 0;
  for (u32 n = 0; n < bytes; ++n) value |= static_cast<u64>(in8(kData)) << (8 * n);
  return value;
}
