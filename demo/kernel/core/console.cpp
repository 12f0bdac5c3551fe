#include "core/console.h"

#include "arch/instructions.h"
#include "arch/io.h"
#include "core/types.h"

namespace {

constexpr u16 kCom1 = 0x3f8;
u32 g_lock;

void put(char c) {
  while (!(in8(kCom1 + 5) & 0x20)) pause();
  out8(kCom1, static_cast<u8>(c));
}

void put_number(u64 value, u32 base, u32 minimum_digits = 1) {
  char digits[20];
  u32 count = 0;
  for (; value || count < minimum_digits; value /= base)
    digits[count++] = "0123456789abcdef"[value % base];
  while (count) put(digits[--count]);
}

void put_text(const char* text) {
  for (; *text; ++text) {
    if (*text == '\n') put('\r');
    put(*text);
  }
}

}  // namespace

void print_arguments(const char* format, va_list arguments) {
  const bool enabled = interrupts_enabled();
  disable_interrupts();
  while (__atomic_exchange_n(&g_lock, 1, __ATOMIC_ACQUIRE)) pause();
  for (; *format; ++format) {
    if (*format != '%') {
      const char text[] = {*format, 0};
      put_text(text);
      continue;
    }
    switch (*++format) {
      case 's':
        put_text(va_arg(arguments, const char*));
        break;
      case 'u':
        put_number(va_arg(arguments, u64), 10);
        break;
      case 'c':
        put(static_cast<char>(va_arg(arguments, int)));
        break;
      case 'x':
        put_text("0x");
        put_number(va_arg(arguments, u64), 16);
        break;
      case 'p': {
        const u64 hundredths = va_arg(arguments, u64);
        put_number(hundredths / 100, 10);
        put('.');
        put_number(hundredths % 100, 10, 2);
        break;
      }
    }
  }
  __atomic_store_n(&g_lock, 0, __ATOMIC_RELEASE);
  if (enabled) enable_interrupts();
}

void print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_arguments(format, arguments);
  va_end(arguments);
}
