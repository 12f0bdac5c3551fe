#include "engines/gdb/memory/sliced_reads.h"

#include <algorithm>

#include "arch/execution_mode.h"
#include "base/clock.h"
#include "engines/gdb/scoped_realtime_priority.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::uint64_t kSliceNs = 500'000;
constexpr std::uint64_t kBulkSliceNs = 2'000'000;
constexpr std::size_t kBulk = 32 * 1024;
constexpr std::string_view kPhysicalOn = "Qqemu.PhyMemMode:1";
constexpr std::string_view kPhysicalOff = "Qqemu.PhyMemMode:0";

}  // namespace

// A read that is under way.
struct SlicedReads::Slice {
  std::string_view before;  // requests around each batch of reads; may be empty
  std::string_view after;
  std::uint64_t address;
  std::span<std::byte> destination;
  std::optional<VcpuId> vcpu;  // of a virtual read
  std::size_t done = 0;
  PrivilegeLevel level = PrivilegeLevel::kUnknown;  // VirtualRead::level

  [[nodiscard]] std::uint64_t limit_ns() const {
    return destination.size() >= kBulk ? kBulkSliceNs : kSliceNs;
  }
};

Result<VirtualRead> SlicedReads::read(VcpuId vcpu, GuestVirt address,
                                      std::span<std::byte> destination) {
  if (vcpu.value >= inventory_->threads.size())
    return fail(ErrorCode::kUsage, "there is no vCPU {}", vcpu.value);
  const std::string& name = inventory_->threads[vcpu.value].name;
  const std::string choose = name.empty() ? "" : "Hg" + name;
  Slice slice{choose, "", address.value, destination, vcpu};
  RINGSIDE_TRY(read_sliced(slice));
  return VirtualRead{slice.done, slice.level};
}

Result<std::size_t> SlicedReads::read(GuestPhys address, std::span<std::byte> destination) {
  Slice slice{kPhysicalOn, kPhysicalOff, address.value, destination, std::nullopt};
  RINGSIDE_TRY(read_sliced(slice));
  return slice.done;
}

Batch SlicedReads::make_batch(const Slice& slice, std::size_t bytes) const {
  Batch batch;
  if (!slice.before.empty()) batch.add(slice.before);
  for_each_chunk(
      GuestVirt{slice.address + slice.done}, bytes, reads_.chunk,
      [&](GuestVirt at, std::size_t size) { batch.add(memory_request(reads_, at, size)); });
  if (!slice.after.empty()) batch.add(slice.after);
  return batch;
}

// How many bytes from the start came.
std::size_t SlicedReads::take(const Slice& slice, const std::vector<std::string>& replies,
                              std::size_t bytes) const {
  std::size_t reply = slice.before.empty() ? 0 : 1;
  std::size_t got = 0;
  bool ended = false;
  for_each_chunk(GuestVirt{slice.address + slice.done}, bytes, reads_.chunk,
                 [&](GuestVirt, std::size_t size) {
                   if (ended) return;
                   const std::size_t count = decode_memory(
                       reads_, replies[reply++], slice.destination.subspan(slice.done + got, size));
                   got += count;
                   ended = count < size;
                 });
  return got;
}

// The request behind that of the stop. Where memory ends in it, the next slice finds that out while
// the guest stands still.
Result<void> SlicedReads::read_on_and_resume(Slice& slice, std::size_t bytes) {
  RINGSIDE_ASSIGN(const auto replies, stub_->exchange_and_resume(make_batch(slice, bytes)));
  slice.done += take(slice, replies, bytes);
  return {};
}

// One stop of the guest. False when memory has ended.
Result<bool> SlicedReads::run_slice(Slice& slice) {
  RINGSIDE_TRY(stops_->wait());
  const auto bytes_of = [&](std::size_t chunks) {
    return std::min(chunks * reads_.chunk, slice.destination.size() - slice.done);
  };
  const std::size_t chunks = pace_.with_stop(slice.limit_ns());
  const std::size_t bytes = bytes_of(chunks);
  const bool physical = slice.before == kPhysicalOn;
  if (physical) stub_->begin_physical_mode();
  RINGSIDE_ASSIGN(const auto stopped, stub_->stop(make_batch(slice, bytes)));
  const std::uint64_t stood = monotonic_ns() - stopped.stopped_ns;
  pace_.took((bytes + reads_.chunk - 1) / reads_.chunk, stood);
  const std::size_t got = take(slice, stopped.replies, bytes);
  slice.done += got;
  if (got < bytes && slice.vcpu) {
    RINGSIDE_ASSIGN(slice.level, level_of(*slice.vcpu));
  }
  const bool more = got == bytes && slice.done < slice.destination.size();
  const std::size_t next = more ? bytes_of(pace_.with_continue(slice.limit_ns(), stood)) : 0;
  if (stopped.ours && next > 0) RINGSIDE_TRY(read_on_and_resume(slice, next));
  if (physical) stub_->end_physical_mode();
  if (stopped.ours && next == 0) RINGSIDE_TRY(stub_->resume());
  if (stopped.ours) stops_->count(stopped.stopped_ns, stub_->held_time().last_ns());
  return more;
}

// While the guest stands still.
Result<PrivilegeLevel> SlicedReads::level_of(VcpuId vcpu) {
  const RegisterLayout& layout = inventory_->layout;
  const std::string& name = inventory_->threads[vcpu.value].name;
  Batch batch;
  if (!name.empty()) batch.add("Hg" + name);
  const std::size_t first = batch.size();
  batch.add("g");
  const auto& more = layout.numbers_for_p(AskedFor::kEverySample);
  for (const std::uint32_t number : more) batch.add(fmt::format("p{:x}", number));
  RINGSIDE_ASSIGN(const auto replies, stub_->exchange(batch));
  arch::Registers registers;
  layout.decode_g(replies[first], registers);
  for (std::size_t n = 0; n < more.size(); ++n)
    layout.decode_p(AskedFor::kEverySample, n, replies[first + 1 + n], registers);
  return privilege_level_of(layout.arch(), registers);
}

Result<void> SlicedReads::read_sliced(Slice& slice) {
  const ScopedRealtimePriority priority(*stub_, stub_thread_);
  while (slice.done < slice.destination.size()) {
    RINGSIDE_ASSIGN(const bool more, run_slice(slice));
    if (!more) break;
  }
  return {};
}

Result<void> SlicedReads::visit(
    const std::vector<GuestPhys>& places, std::size_t size,
    const std::function<void(GuestPhys, std::span<const std::byte>)>& compare) {
  RINGSIDE_TRY(stops_->wait());
  const ScopedRealtimePriority priority(*stub_, stub_thread_);
  Batch batch;
  batch.add(kPhysicalOn);
  for (const GuestPhys place : places)
    batch.add(memory_request(reads_, GuestVirt{place.value}, size));
  batch.add(kPhysicalOff);
  stub_->begin_physical_mode();
  RINGSIDE_ASSIGN(const auto stopped, stub_->stop(batch));
  stub_->end_physical_mode();
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t got = decode_memory(reads_, stopped.replies[i + 1], bytes);
    compare(places[i], std::span(bytes).first(got));
  }
  if (!stopped.ours) return {};
  RINGSIDE_TRY(stub_->resume());
  stops_->count(stopped.stopped_ns, stub_->held_time().last_ns());
  return {};
}

Result<std::size_t> StubPhysicalMemory::read_up_to(GuestPhys address,
                                                   std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const auto piece = memory::find_ram(ranges_, address + done, destination.size() - done);
    if (!piece) break;
    RINGSIDE_ASSIGN(const std::size_t got,
                    reads_->read(address + done, destination.subspan(done, piece->bytes)));
    done += got;
    if (got < piece->bytes) break;
  }
  return done;
}

}  // namespace ringside::engines::gdb
