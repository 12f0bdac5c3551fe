#include "workloads/work.h"
#include "workloads/workload.h"

// Functions with names that C++ and Rust compilers mangle.

namespace {

enum : u32 {
  kMix,
  kLambda,
  kInode,
  kCall,
  kShift,
  kHash,
  kRustPick,
  kRustDropInPlace,
  kRustClosure,
  kRustDrop
};
constexpr const char* kFunctions[] = {
    "unsigned long crypto::mix<unsigned int, 7>(unsigned long)",
    "block::submit(unsigned long)::{lambda(unsigned long)#1}::operator()(unsigned long) const",
    "fs::ext::Inode<fs::ext::Page>::read(unsigned long)",
    "net::Checksum::operator()(unsigned long)",
    "net::operator<<(net::Packet&, unsigned long)",
    "(anonymous namespace)::hash_name(unsigned long)",
    "<kernel::sched::RunQueue<T> as kernel::sched::Pick>::pick",
    "core::ptr::drop_in_place<kernel::mem::Frame>",
    "kernel::sched::run::{closure#0}",
    "<kernel::mem::Frame as core::ops::drop::Drop>::drop",
};
constexpr u64 kPercent = 8000;  // iterations

void hash_name(u64 n) { work(kHash, n); }

}  // namespace

namespace crypto {
template <typename Word, int Rounds>
u64 mix(u64 n) {
  work(kMix, n);
  return sizeof(Word) * Rounds;
}
template u64 mix<unsigned int, 7>(u64);
}  // namespace crypto

namespace block {
// Inline, so that the lambda has linkage: else clang names it $_0, GCC {lambda(unsigned long)#1}.
inline void submit(u64 n) {
  const auto complete = [](u64 count) { work(kLambda, count); };
  complete(n);
  asm volatile("" : : : "memory");
}
}  // namespace block

namespace fs::ext {
struct Page {};
template <typename Storage>
struct Inode {
  void read(u64 n) {
    asm volatile("" : : "r"(this));
    work(kInode, n);
  }
};
template struct Inode<Page>;
}  // namespace fs::ext

namespace net {
struct Packet {
  u64 length;
};
struct Checksum {
  u64 sum;
  void operator()(u64 n) {
    ++sum;
    work(kCall, n);
  }
};
Packet& operator<<(Packet& packet, u64 n) {
  packet.length += n;
  work(kShift, n);
  return packet;
}
}  // namespace net

// Names that rustc 1.x gave to real functions of a crate `kernel`: the older mangling (_ZN…17h…E)
// and v0 (_R…).
void rust_pick(u64) asm(
    "_ZN72_$LT$kernel..sched..RunQueue$LT$T$GT$$u20$as$u20$kernel..sched..Pick$GT$"
    "4pick17h701e38115998be06E");
void rust_drop_in_place(u64) asm(
    "_ZN4core3ptr39drop_in_place$LT$kernel..mem..Frame$GT$17heb2922a5043806f7E");
void rust_run(u64) asm("_RNvNtCs1EKtwoKEMO2_6kernel5sched3run");
void rust_closure(u64) asm("_RNCNvNtCs1EKtwoKEMO2_6kernel5sched3run0B5_");
void rust_free(u64) asm("_RNvNtCs1EKtwoKEMO2_6kernel3mem1f");
void rust_drop(u64) asm(
    "_RNvXNtCs1EKtwoKEMO2_6kernel3memNtB2_5FrameNtNtNtCsgEmfK2I1SDS_4core3ops4drop4Drop4drop");

void rust_pick(u64 n) { work(kRustPick, n); }
void rust_drop_in_place(u64 n) { work(kRustDropInPlace, n); }
void rust_closure(u64 n) { work(kRustClosure, n); }
void rust_drop(u64 n) { work(kRustDrop, n); }
void rust_run(u64 n) {
  rust_closure(n);
  asm volatile("" : : : "memory");
}
void rust_free(u64 n) {
  rust_drop(n);
  asm volatile("" : : : "memory");
}

extern "C" void names_round() {
  fs::ext::Inode<fs::ext::Page> inode;
  net::Checksum checksum{0};
  net::Packet packet{0};
  crypto::mix<unsigned int, 7>(15 * kPercent);
  block::submit(12 * kPercent);
  inode.read(11 * kPercent);
  checksum(10 * kPercent);
  packet << 9 * kPercent;
  hash_name(8 * kPercent);
  rust_pick(10 * kPercent);
  rust_drop_in_place(7 * kPercent);
  rust_run(13 * kPercent);
  rust_free(5 * kPercent);
}

constinit const Workload names_workload = {
    .name = "names",
    .summary = "names of C++ templates, lambdas, operators, namespaces, and of both Rust manglings",
    .functions = kFunctions,
    .function_count = 10,
    .threads_per_vcpu = 2,
    .only_vcpu0 = false,
    .ticks = true,
    .prepare = nullptr,
    .round = names_round,
    .start_processes = nullptr,
};
