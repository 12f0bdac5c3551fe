#include "core/command_line.h"

#include "core/layout.h"

namespace {

constexpr u32 kStartMagic = 0x336ec578;
constexpr u64 kCommandLineOffset =
    24;  // hvm_start_info.cmdline_paddr, Xen public/arch-x86/hvm/start_info.h

char g_command_line[512];

// Where the value of `key` begins, or null.
const char* find(const char* key) {
  for (const char* word = g_command_line; *word;) {
    const char* at = word;
    const char* wanted = key;
    while (*wanted && *at == *wanted) ++at, ++wanted;
    if (!*wanted && *at == '=') return at + 1;
    while (*word && *word != ' ') ++word;
    while (*word == ' ') ++word;
  }
  return nullptr;
}

}  // namespace

void read_command_line(u64 start_info) {
  const auto* info = static_cast<const u8*>(physical_to_virtual(start_info));
  if (*reinterpret_cast<const u32*>(info) != kStartMagic) return;
  const u64 text = *reinterpret_cast<const u64*>(info + kCommandLineOffset);
  if (!text) return;
  const auto* from = static_cast<const char*>(physical_to_virtual(text));
  for (u32 i = 0; i + 1 < sizeof g_command_line && from[i]; ++i) g_command_line[i] = from[i];
}

const char* option(const char* key, char (&buffer)[64]) {
  const char* value = find(key);
  if (!value) return nullptr;
  u32 length = 0;
  while (length + 1 < sizeof buffer && value[length] && value[length] != ' ') {
    buffer[length] = value[length];
    ++length;
  }
  buffer[length] = 0;
  return buffer;
}

u64 number_option(const char* key, u64 fallback) {
  const char* value = find(key);
  if (!value || *value < '0' || *value > '9') return fallback;
  u64 number = 0;
  for (; *value >= '0' && *value <= '9'; ++value)
    number = number * 10 + static_cast<u64>(*value - '0');
  return number;
}

bool same_text(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}
