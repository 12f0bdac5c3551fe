#include "sampling/drain.h"

#include <ringside_guest.h>

#include "arch/cpu.h"
#include "arch/instructions.h"
#include "arch/serial_port.h"
#include "core/command_line.h"
#include "core/console.h"
#include "core/panic.h"
#include "core/thread.h"
#include "sampling/disk.h"
#include "sampling/redox_rings.h"

namespace {

constexpr u16 kPorts[] = {kCom2, kCom3, kCom4};
constexpr size_t kBlockBytes = 64 << 10;

u32 g_rings, g_ways;
bool g_drains, g_is_redox, g_uses_disks;
u32 g_lock;
u64 g_bytes;
Thread* g_daemon;
alignas(8) char g_block[kBlockBytes];

// A block at a time: the line on the console says that it is out. Returns its bytes.
size_t drain_block(u32 ring) {
  const size_t bytes = g_is_redox ? drain_redox_ring(ring, g_block, kBlockBytes)
                                  : ringside_drain(ring, g_block, kBlockBytes);
  if (!bytes) return 0;
  const u32 way = g_is_redox ? ring : 0;
  if (g_uses_disks)
    append_to_disk(way, g_block, bytes);
  else
    write_port(kPorts[way], g_block, bytes);
  g_bytes += bytes;
  print("ringside-demo: drained vcpu=%u bytes=%u\n", static_cast<u64>(ring),
        static_cast<u64>(bytes));
  return bytes;
}

// Until a block had room for more: what comes while it is written waits for the next time.
void drain_rings() {
  constexpr size_t kAlmostFull = kBlockBytes - RINGSIDE_LEAST_BUFFER;
  for (u32 ring = 0; ring < g_rings; ++ring)
    while (drain_block(ring) > kAlmostFull) {
    }
}

INLINE bool try_lock() { return !__atomic_exchange_n(&g_lock, 1, __ATOMIC_ACQUIRE); }
INLINE void unlock() { __atomic_store_n(&g_lock, 0, __ATOMIC_RELEASE); }

}  // namespace

bool choose_drain(u32 rings, bool is_redox) {
  char buffer[64];
  const char* name = option("drain", buffer);
  if (!name) return false;
  g_uses_disks = same_text(name, "disk");
  if (!g_uses_disks && !same_text(name, "com2")) panic("drain=%s: com2 or disk", name);
  g_ways = is_redox ? rings : 1;
  const u32 most = g_uses_disks ? kMostDisks : sizeof(kPorts) / sizeof(kPorts[0]);
  if (g_ways > most) panic("drain=%s: for %u vCPUs at most", name, static_cast<u64>(most));
  for (u32 n = 0; n < g_ways; ++n) {
    if (g_uses_disks)
      start_disk(n);
    else
      start_port(kPorts[n]);
  }
  g_rings = rings;
  g_is_redox = is_redox;
  return g_drains = true;
}

void drain_some() {
  if (!g_drains || !try_lock()) return;
  drain_rings();
  unlock();
}

u64 drain_the_rest() {
  if (!g_drains) return 0;
  while (!try_lock()) yield_cpu();
  drain_rings();
  for (u32 n = 0; g_uses_disks && n < g_ways; ++n) end_disk(n);
  return g_bytes;
}

extern "C" void drain_daemon(void*) {
  for (;;) {
    drain_some();
    disable_interrupts();
    g_daemon->dead = true;  // it sleeps: the scheduler passes it over
    schedule();
    enable_interrupts();
  }
}

void make_drain_daemon() {
  if (g_drains) g_daemon = new_thread(drain_daemon, nullptr);
}

// As far on as the others of its vCPU: the scheduler runs those with the fewest units.
void wake_drain_daemon() {
  if (!g_daemon || !g_daemon->dead) return;
  const Cpu& cpu = this_cpu();
  u64 fewest = ~0ull;
  for (u32 i = 0; i < cpu.thread_count; ++i) {
    const Thread& thread = *cpu.threads[i];
    if (!thread.dead && thread.units < fewest) fewest = thread.units;
  }
  g_daemon->units = fewest == ~0ull ? 0 : fewest;
  g_daemon->dead = false;
}
