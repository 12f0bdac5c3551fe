#include "sampling/switch.h"

#include "arch/io.h"

namespace {

constexpr u16 kCom1 = 0x3f8, kKeyboardData = 0x60, kKeyboardStatus = 0x64;
constexpr u8 kReceived = 1, kHasKey = 1, kNoDevice = 0xff;
constexpr u8 kScancodeA = 30, kScancodeB = 48;

}  // namespace

Switch switched() {
  Switch wanted = Switch::kNone;
  if (in8(kCom1 + 5) & kReceived) {
    const u8 key = in8(kCom1);
    if (key == '1' || key == '0') wanted = key == '1' ? Switch::kOn : Switch::kOff;
  }
  const u8 status = in8(kKeyboardStatus);
  if (status != kNoDevice && (status & kHasKey)) {
    const u8 code = in8(kKeyboardData);
    if (code == kScancodeA || code == kScancodeB)
      wanted = code == kScancodeA ? Switch::kOn : Switch::kOff;
  }
  return wanted;
}
