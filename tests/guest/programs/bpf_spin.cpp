// Loads a BPF program of some hundred instructions and runs it for ever. Says on the console what
// the kernel's kallsyms calls its code: bpf_prog_<tag>_spinner. Built for all four architectures by
// bpf_test.py.

#include "freestanding.h"

namespace {

#if defined(__x86_64__)
constexpr Word kBpf = 321;
#elif defined(__i386__)
constexpr Word kBpf = 357;
#else
constexpr Word kBpf = 280;
#endif
constexpr Word kHere = static_cast<Word>(-100);  // AT_FDCWD
constexpr Word kWriteOnly = 1;

using Byte = unsigned char;
using Long = unsigned long long;

// include/uapi/linux/bpf.h
struct Instruction {
  Byte code;
  Byte registers;
  short offset;
  int value;
};
constexpr Word kLoad = 5, kTestRun = 10, kInformation = 15;
constexpr unsigned kSocketFilter = 1;
constexpr Byte kSet = 0xb7, kMultiply = 0x27, kAdd = 0x07, kXor = 0xa7,
               kEnd = 0x95;  // of 64 bits, by a constant

union Attributes {
  struct {
    unsigned type, instructions;
    Long code, license;
    unsigned log_level, log_size;
    Long log;
    unsigned version, flags;
    char name[16];
  } load;
  struct {
    unsigned program, result, in_size, out_size;
    Long in, out;
    unsigned turns, duration;
  } run;
  struct {
    unsigned program, size;
    Long information;
  } information;
  Byte all[128];
};

constexpr int kTurns = 200;
Instruction code[3 * kTurns + 2];
Byte information[256];  // struct bpf_prog_info: type, id, tag[8]
constexpr int kTag = 8;

Long address(const void* of) { return reinterpret_cast<Word>(of); }

Word bpf(Word command, Attributes& attributes) {
  return system_call(kBpf, command, reinterpret_cast<Word>(&attributes), sizeof attributes);
}

void clear(Attributes& attributes) {
  for (volatile Byte& byte : attributes.all) byte = 0;
}

void write_program() {
  Instruction* at = code;
  *at++ = {kSet, 0, 0, 1};
  for (int i = 0; i < kTurns; ++i) {
    *at++ = {kMultiply, 0, 0, 1103515245};
    *at++ = {kAdd, 0, 0, 12345};
    *at++ = {kXor, 0, 0, 0x55aa};
  }
  *at = {kEnd, 0, 0, 0};
}

void write_to(const char* path, const char* text, Word size) {
  const Word file = system_call(kOpen, kHere, reinterpret_cast<Word>(path), kWriteOnly);
  system_call(kWrite, file, reinterpret_cast<Word>(text), size);
}

void say_name() {
  static char line[] = "ringside-bpf: bpf_prog_0123456789abcdef_spinner\n";
  char* to = line + 23;
  for (int i = 0; i < 8; ++i) {
    *to++ = "0123456789abcdef"[information[kTag + i] >> 4];
    *to++ = "0123456789abcdef"[information[kTag + i] & 15];
  }
  write_to("/dev/console", line, sizeof line - 1);
}

}  // namespace

extern "C" [[noreturn]] void run() {
  write_program();
  write_to("/proc/sys/net/core/bpf_jit_enable", "1", 1);
  Attributes attributes;
  clear(attributes);
  attributes.load.type = kSocketFilter;
  attributes.load.instructions = sizeof code / sizeof *code;
  attributes.load.code = address(code);
  attributes.load.license = address("GPL");
  static const char name[] = "spinner";
  for (unsigned i = 0; i < sizeof name; ++i) attributes.load.name[i] = name[i];
  const Word program = bpf(kLoad, attributes);
  clear(attributes);
  attributes.information.program = static_cast<unsigned>(program);
  attributes.information.size = sizeof information;
  attributes.information.information = address(information);
  bpf(kInformation, attributes);
  say_name();
  static Byte in[64];
  for (;;) {
    clear(attributes);
    attributes.run.program = static_cast<unsigned>(program);
    attributes.run.in = address(in);
    attributes.run.in_size = sizeof in;
    attributes.run.turns = 100000;
    bpf(kTestRun, attributes);
  }
}
