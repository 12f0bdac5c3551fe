#include "sampling/disk.h"

#include "arch/instructions.h"
#include "arch/io.h"
#include "arch/pci.h"
#include "core/layout.h"
#include "core/memory.h"
#include "core/panic.h"

// The legacy interface (Virtual I/O Device Version 1.1, sections 2.6 and 4.1.4.8), one request at a
// time.

namespace {

constexpr u16 kVendor = 0x1af4, kBlockDevice = 0x1001;
constexpr u8 kCommand = 0x04, kBar0 = 0x10;
constexpr u32 kIoAndBusMaster = 0x5;

// Registers, from the base port on.
constexpr u16 kGuestFeatures = 0x04, kQueuePage = 0x08, kQueueSize = 0x0c, kQueueSelect = 0x0e,
              kQueueNotify = 0x10, kStatus = 0x12, kCapacity = 0x14;
constexpr u8 kAcknowledged = 1, kDriver = 2, kDriverOk = 4;

constexpr u64 kSector = 512, kBufferBytes = 64 << 10;
constexpr u16 kNext = 1, kDeviceWrites = 2;
constexpr u32 kOut = 1;

struct Descriptor {
  u64 address;
  u32 length;
  u16 flags;
  u16 next;
};
struct Request {
  u32 type, reserved;
  u64 sector;
  u8 status;
};

struct Disk {
  u16 base;
  u32 queue_size;
  Descriptor* descriptors;
  volatile u16* available;  // flags, index, ring
  volatile u16* used;       // flags, index, ring
  Request* request;
  char* buffer;  // what no whole sector is of yet, and what is written now
  u64 filled;    // of it
  u64 sector;    // that is written next
  u64 sectors;   // of the disk
};
Disk g_disks[kMostDisks];

u64 physical(const volatile void* pointer) {
  return direct_map_to_physical(const_cast<const void*>(pointer));
}

void write_sectors(Disk& disk, u64 count) {
  if (disk.sector + count > disk.sectors) panic("the disk has %u sectors only", disk.sectors);
  *disk.request = {kOut, 0, disk.sector, 0xff};
  disk.descriptors[0] = {physical(disk.request), 16, kNext, 1};
  disk.descriptors[1] = {physical(disk.buffer), static_cast<u32>(count * kSector), kNext, 2};
  disk.descriptors[2] = {physical(&disk.request->status), 1, kDeviceWrites, 0};
  const u16 index = disk.available[1];
  disk.available[2 + index % disk.queue_size] = 0;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  disk.available[1] = static_cast<u16>(index + 1);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  out16(disk.base + kQueueNotify, 0);
  while (disk.used[1] != static_cast<u16>(index + 1)) pause();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (disk.request->status != 0) panic("the disk does not write sector %u", disk.sector);
  disk.sector += count;
}

}  // namespace

void start_disk(u32 n) {
  const u32 place = find_pci_device(kVendor, kBlockDevice, n);
  if (!place) panic("drain=disk: there is no virtio-blk disk number %u", static_cast<u64>(n));
  write_pci(place, kCommand, read_pci(place, kCommand) | kIoAndBusMaster);
  Disk& disk = g_disks[n];
  disk.base = static_cast<u16>(read_pci(place, kBar0) & ~3u);
  out8(disk.base + kStatus, 0);
  out8(disk.base + kStatus, kAcknowledged | kDriver);
  out32(disk.base + kGuestFeatures, 0);
  out16(disk.base + kQueueSelect, 0);
  disk.queue_size = in16(disk.base + kQueueSize);
  const u64 table = disk.queue_size * sizeof(Descriptor);
  const u64 until_used =
      (table + 2 * (3 + disk.queue_size) + kPageSize - 1) / kPageSize * kPageSize;
  char* const memory = static_cast<char*>(allocate(until_used + 6 + 8 * disk.queue_size));
  disk.descriptors = reinterpret_cast<Descriptor*>(memory);
  disk.available = reinterpret_cast<volatile u16*>(memory + table);
  disk.used = reinterpret_cast<volatile u16*>(memory + until_used);
  disk.request = static_cast<Request*>(allocate(sizeof(Request)));
  disk.buffer = static_cast<char*>(allocate(kBufferBytes));
  disk.sectors = in32(disk.base + kCapacity) | static_cast<u64>(in32(disk.base + kCapacity + 4))
                                                   << 32;
  out32(disk.base + kQueuePage, static_cast<u32>(physical(memory) / kPageSize));
  out8(disk.base + kStatus, kAcknowledged | kDriver | kDriverOk);
}

void append_to_disk(u32 n, const char* bytes, size_t count) {
  Disk& disk = g_disks[n];
  while (count) {
    const u64 room = kBufferBytes - disk.filled;
    const u64 taken = count < room ? count : room;
    memcpy(disk.buffer + disk.filled, bytes, taken);
    disk.filled += taken;
    bytes += taken;
    count -= taken;
    const u64 whole = disk.filled / kSector;
    if (!whole) continue;
    write_sectors(disk, whole);
    disk.filled -= whole * kSector;
    memcpy(disk.buffer, disk.buffer + whole * kSector, disk.filled);
  }
}

void end_disk(u32 n) {
  Disk& disk = g_disks[n];
  if (!disk.filled) return;
  memset(disk.buffer + disk.filled, 0, kSector - disk.filled);
  write_sectors(disk, 1);
  disk.filled = 0;
}
