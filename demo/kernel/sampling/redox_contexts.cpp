#include "sampling/redox_contexts.h"

#include "core/memory.h"
#include "core/panic.h"

// Types and members have the names that debug information of Redox' kernel has, by which a profiler
// outside finds its way. Members are in another order, as Rust may have them.
namespace {

template <u32 N>
struct ArrayString {
  char xs[N];
  u32 len;
};

using Name = ArrayString<32>;

// Rust's (u32, ArrayString<32>).
struct Entry {
  u32 __0;
  Name __1;
};

// The crate hashbrown's: entries are in front of their control bytes, the first one last.
struct RawTableInner {
  u64 items;
  u64 growth_left;
  u64 bucket_mask;
  u8* ctrl;
};

template <class T>
struct RawTable {
  u64 alloc;
  RawTableInner table;
};

struct HashMap {
  u64 hash_builder;
  RawTable<Entry> table;
};

template <class T>
struct RwLock {
  u64 lock;
  T data;
};

}  // namespace

namespace kernel::profiling {

RwLock<HashMap> DBG_ID_MAP;

}  // namespace kernel::profiling

namespace {

constexpr u8 kEmpty = 0xff;
constexpr u64 kFirstBuckets = 4;
constexpr u64 kGroup = 8;  // control bytes that hashbrown compares at once, and has once more

u64 hash_of(u32 id) { return id * 0x9e3779b97f4a7c15u; }

Entry& entry_at(u8* ctrl, u64 n) {
  return *reinterpret_cast<Entry*>(ctrl - (n + 1) * sizeof(Entry));
}

// Seven entries of eight, but one less than there are of four.
u64 room_of(u64 buckets) { return buckets < 8 ? buckets - 1 : buckets / 8 * 7; }

void put(u8* ctrl, u64 mask, const Entry& entry) {
  u64 n = hash_of(entry.__0) & mask;
  while (ctrl[n] != kEmpty) n = (n + 1) & mask;
  entry_at(ctrl, n) = entry;
  const u8 control = hash_of(entry.__0) >> 57;
  __atomic_store_n(&ctrl[n], control, __ATOMIC_RELEASE);
  if (n < kGroup) ctrl[mask + 1 + n] = control;
}

// Twice as many as before, elsewhere.
void grow(RawTableInner& table) {
  const u64 before = table.ctrl ? table.bucket_mask + 1 : 0;
  const u64 buckets = before ? 2 * before : kFirstBuckets;
  auto* const memory = static_cast<u8*>(allocate(buckets * sizeof(Entry) + buckets + kGroup));
  u8* const ctrl = memory + buckets * sizeof(Entry);
  memset(ctrl, kEmpty, buckets + kGroup);
  for (u64 n = 0; n < before; ++n)
    if (table.ctrl[n] != kEmpty) put(ctrl, buckets - 1, entry_at(table.ctrl, n));
  table.bucket_mask = buckets - 1;
  table.growth_left = room_of(buckets) - table.items;
  table.ctrl = ctrl;
}

void append(Name& name, char letter) {
  if (name.len < sizeof(name.xs)) name.xs[name.len++] = letter;
}

void append(Name& name, u32 number) {
  if (number >= 10) append(name, number / 10);
  append(name, static_cast<char>('0' + number % 10));
}

}  // namespace

void name_redox_context(u32 id, const char* program) {
  auto& map = kernel::profiling::DBG_ID_MAP;
  Entry entry{};
  entry.__0 = id;
  for (; *program; ++program) append(entry.__1, *program);
  append(entry.__1, ' ');
  append(entry.__1, id);
  while (__atomic_exchange_n(&map.lock, 1, __ATOMIC_ACQUIRE)) {
  }
  RawTableInner& table = map.data.table.table;
  if (table.growth_left == 0) grow(table);
  put(table.ctrl, table.bucket_mask, entry);
  ++table.items;
  --table.growth_left;
  __atomic_store_n(&map.lock, 0, __ATOMIC_RELEASE);
}
