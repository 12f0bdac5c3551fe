#include "core/command_line.h"
#include "core/layout.h"
#include "core/steady_clock.h"
#include "workloads/work.h"
#include "workloads/workload.h"

// Blocks of 4 KiB are copied from a device that reads as zeros to one that forgets what is written,
// and the guest powers off: `dd if=/dev/zero of=/dev/null bs=4k count=100000`.

namespace {

constexpr const char* kFunctions[] = {"zero_read", "null_write"};
enum Function : u32 { kZeroRead, kNullWrite };
constexpr u64 kBlocksARound = 64;

struct Device {
  u64 (*read)(char* to, u64 bytes);
  u64 (*write)(const char* from, u64 bytes);
};

alignas(kPageSize) char g_block[kPageSize];
u64 g_copied;

}  // namespace

extern "C" u64 zero_read(char* to, u64 bytes) {
  const Moment start = moment();
  for (u64 at = 0; at < bytes; at += sizeof(u64)) *reinterpret_cast<volatile u64*>(to + at) = 0;
  account_work(kZeroRead, own_time(start, moment()), bytes);
  return bytes;
}

extern "C" u64 null_write(const char* from, u64 bytes) {
  const Moment start = moment();
  asm volatile("" : : "r"(from) : "memory");
  account_work(kNullWrite, own_time(start, moment()), bytes);
  return bytes;
}

namespace {

constinit const Device kZero{zero_read, nullptr}, kNull{nullptr, null_write};

}  // namespace

extern "C" u64 read_device(const Device& device, char* to, u64 bytes) {
  const u64 done = device.read(to, bytes);
  asm volatile("" : : : "memory");
  return done;
}

extern "C" u64 write_device(const Device& device, const char* from, u64 bytes) {
  const u64 done = device.write(from, bytes);
  asm volatile("" : : : "memory");
  return done;
}

extern "C" void copy_block() {
  const u64 bytes = read_device(kZero, g_block, sizeof(g_block));
  write_device(kNull, g_block, bytes);
}

extern "C" void copy_round() {
  static const u64 blocks = number_option("blocks", 100000);
  for (u64 n = 0; n < kBlocksARound && g_copied < blocks; ++n, ++g_copied) copy_block();
  if (g_copied == blocks) end_steady_clock();
}

constinit const Workload copy_workload = {
    .name = "copy",
    .summary = "copies 4 KiB blocks from a zero device to a null device, blocks=100000 of them",
    .functions = kFunctions,
    .function_count = 2,
    .threads_per_vcpu = 1,
    .only_vcpu0 = true,
    .ticks = true,
    .prepare = nullptr,
    .round = copy_round,
    .start_processes = nullptr,
};
