#include "unwind/x86/padding.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ringside::unwind::x86 {
namespace {

using namespace std::string_view_literals;

// Intel SDM volume 2, NOP, "Recommended Multi-Byte Sequence"; the assembler's for i386 (binutils,
// gas/config/tc-i386.c). Prefixes may stand before them.
constexpr std::array kForms = {
    "\x90"sv,
    "\x0f\x1f\x00"sv,
    "\x0f\x1f\x40\x00"sv,
    "\x0f\x1f\x44\x00\x00"sv,
    "\x0f\x1f\x80\x00\x00\x00\x00"sv,
    "\x0f\x1f\x84\x00\x00\x00\x00\x00"sv,
    "\x8d\x76\x00"sv,
    "\x8d\x74\x26\x00"sv,
    "\x8d\xb6\x00\x00\x00\x00"sv,
    "\x8d\xb4\x26\x00\x00\x00\x00"sv,
};

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool begins_with_padding(Bytes code) {
  std::string_view text = text_of(code);
  text.remove_prefix(std::min(text.find_first_not_of("\x66\x2e"), text.size()));
  return std::any_of(kForms.begin(), kForms.end(),
                     [text](std::string_view form) { return text.starts_with(form); });
}

bool ends_with_padding(Bytes code) {
  return std::any_of(kForms.begin(), kForms.end(), [text = text_of(code)](std::string_view form) {
    return text.ends_with(form);
  });
}

}  // namespace ringside::unwind::x86
