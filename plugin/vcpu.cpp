#include "plugin/vcpu.h"

#include <array>
#include <bit>
#include <utility>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "base/clock.h"
#include "plugin/frame_pointer_walk.h"
#include "wire/classify.h"
#include "wire/record.h"
#include "wire/sample_file.h"

namespace ringside::plugin {
namespace {

constexpr std::size_t kCodePage = 4096;

}  // namespace

void Vcpu::attach(SharedRing& ring, unsigned number, Arch arch) {
  ring_ = &ring;
  number_ = number;
  arch_ = arch;
}

// The plan that ringside has written last; while it is writing, the one before.
void Vcpu::copy_plan() { (void)ring_->vcpu(number_).plan.load_newer(plan_sequence_, plan_); }

void Vcpu::copy_memory(wire::Capture& capture) {
  const bool user = capture.level == PrivilegeLevel::kUser;
  const std::size_t ops = std::min<std::size_t>(plan_.ops, plan_.recipe.size());
  wire::RecipeRun run(std::span(plan_.recipe).first(ops), capture.registers,
                      user ? plan_.user_budget : plan_.kernel_budget);
  while (const auto request = run.next()) {
    if (request->is_load()) {
      std::uint64_t value = 0;
      const auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(request->size);
      const bool read = guest_.read_memory(request->read_at, bytes) == bytes.size();
      run.loaded(read ? std::optional(value) : std::nullopt);
      continue;
    }
    const std::size_t offset = capture.bytes.size();
    if (request->what != wire::MemoryRequest::What::kValue) {
      capture.bytes.resize(offset + request->size);
      const std::size_t got =
          guest_.read_memory(request->read_at, std::span(capture.bytes).subspan(offset));
      capture.bytes.resize(offset + got);
    }
    wire::finish_piece(capture, *request, offset);
  }
}

bool Vcpu::take(wire::Capture& capture, bool wants_memory) {
  if (!has_registers_) {
    guest_.find_registers(arch_);
    has_registers_ = true;
  }
  capture.vcpu = VcpuId{static_cast<std::uint16_t>(number_)};
  capture.arch = arch_;
  capture.disposition = wire::Disposition::kSampled;
  capture.level = PrivilegeLevel::kUnknown;
  capture.host_time_ns = monotonic_ns();
  capture.pause_ns = 0;
  capture.pieces.clear();
  capture.bytes.clear();
  guest_.read_registers(capture.registers);
  if (!wants_memory) return true;
  const bool copies = wire::classify(capture, {plan_.kernel != 0, plan_.user != 0},
                                     static_cast<Arch>(plan_.recipe_arch));
  if (capture.disposition == wire::Disposition::kSkipped) return false;
  if (copies && !walks_) copy_memory(capture);
  return true;
}

// The kernel's code shows later where it was loaded (kernel_image/slide). Code that runs in kernel
// mode at first may be something else; so it is stored with the 1st, 2nd, 4th, 8th … sample.
void Vcpu::store_code(const wire::Capture& capture) {
  const bool is_pc = arch::info_of(capture.arch).is_x86;
  const bool may_be_kernel = capture.level == PrivilegeLevel::kKernel ||
                             (capture.level == PrivilegeLevel::kFirmware && !is_pc);
  std::uint64_t& samples =
      capture.level == PrivilegeLevel::kKernel ? kernel_samples_ : firmware_samples_;
  if (!may_be_kernel || !std::has_single_bit(++samples)) return;
  const std::uint64_t pc = capture.registers.get(arch::roles_of(capture.arch).pc);
  const GuestVirt page{pc - pc % kCodePage};
  for (const GuestVirt at : {page, page + kCodePage, page - kCodePage}) {
    std::byte code[kCodePage];
    if (guest_.read_memory(at, code) != kCodePage) continue;
    const std::size_t bytes = wire::memory_record_bytes(kCodePage);
    const auto slot = ring_->begin_record(number_, wire::SourceId::kCode, bytes, meanwhile());
    if (slot.room.empty()) return;
    wire::write_memory_record({capture.vcpu, capture.host_time_ns, at, code}, slot.origin,
                              slot.room);
    ring_->commit(number_, wire::SourceId::kCode, bytes, meanwhile());
  }
}

template <class What>
bool Vcpu::put(wire::SourceId source, const What& what) {
  const std::size_t bytes = wire::record_bytes(what);
  const auto slot = ring_->begin_record(number_, source, bytes, meanwhile());
  if (slot.room.empty()) return false;
  wire::write_record(what, slot.origin, slot.room);
  ring_->commit(number_, source, bytes, meanwhile());
  return true;
}

bool Vcpu::put_sample(std::uint64_t ticks) {
  if (walks_) {
    std::array<std::uint64_t, 1 + kMostWalkedFrames> values{ticks};
    const std::span addresses = std::span(values).subspan<1>();
    const std::size_t count = walk_frame_pointers(guest_, capture_, addresses).size();
    return put(wire::SourceId::kClock,
               wire::Event{capture_.vcpu, capture_.arch, capture_.level, capture_.host_time_ns,
                           std::span(values).first(1 + count)});
  }
  if (ring_->source(wire::SourceId::kCode).enabled.load(std::memory_order_relaxed) != 0)
    store_code(capture_);
  capture_.weight = ticks;
  capture_.pause_ns = monotonic_ns() - capture_.host_time_ns;
  if (!put(wire::SourceId::kClock, capture_)) return false;
  if (runners_.is_new(capture_)) ring_->ring_bell();
  return true;
}

void Vcpu::sample(std::uint64_t ticks) {
  copy_plan();
  // Another ringside has not seen anybody yet.
  const std::uint32_t start = ring_->header().start.load(std::memory_order_relaxed);
  if (std::exchange(start_, start) != start) runners_ = {};
  if (plan_.wanted == 0 || !take(capture_, true)) {
    ring_->count(number_, wire::RingCounter::kSkippedTicks, ticks);
  } else if (!put_sample(ticks)) {
    ring_->count(number_, wire::RingCounter::kLostTicks, ticks);
  }
}

std::uint32_t Vcpu::answer(wire::MailboxRequest request) {
  const wire::RingHeader& header = ring_->header();
  const auto mailbox = ring_->mailbox();
  if (request == wire::MailboxRequest::kRegisters) {
    wire::Capture capture;
    if (!take(capture, false)) return 0;
    const std::size_t bytes = wire::record_bytes(capture);
    wire::write_record(capture, {}, mailbox.first(bytes));
    return static_cast<std::uint32_t>(bytes);
  }
  const std::size_t wanted =
      std::min<std::size_t>(header.request_bytes.load(std::memory_order_relaxed), mailbox.size());
  return static_cast<std::uint32_t>(guest_.read_memory(
      GuestVirt{header.request_address.load(std::memory_order_relaxed)}, mailbox.first(wanted)));
}

bool Vcpu::serve() {
  wire::RingHeader& header = ring_->header();
  const std::uint32_t number = header.requested.load(std::memory_order_acquire);
  if (number == header.answered.load(std::memory_order_relaxed)) return false;
  if (header.request_vcpu.load(std::memory_order_relaxed) != number_) return false;
  const auto request = header.request.load(std::memory_order_relaxed);
  std::uint32_t claimed = header.claimed.load(std::memory_order_relaxed);
  if (claimed == number) return false;  // taken back
  if (request == wire::MailboxRequest::kKernelMemory) {
    wire::Capture capture;
    (void)take(capture, false);
    (void)wire::classify(capture, {}, Arch::kUnknown);
    if (capture.level != PrivilegeLevel::kKernel) return true;
  }
  // From here on ringside waits for the answer: the mailbox is nobody else's.
  if (!header.claimed.compare_exchange_strong(claimed, number, std::memory_order_acq_rel))
    return false;
  const std::uint32_t bytes = answer(request);
  header.answer_bytes.store(bytes, std::memory_order_relaxed);
  header.answered.store(number, std::memory_order_release);
  ring_->ring_bell();
  return false;
}

}  // namespace ringside::plugin
