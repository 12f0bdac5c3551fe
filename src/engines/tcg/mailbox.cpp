#include "engines/tcg/mailbox.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "wire/futex.h"
#include "wire/record.h"

namespace ringside::engines::tcg {
namespace {

constexpr std::uint64_t kAnswerNs = 5'000'000'000;  // that a vCPU may need once it has begun
constexpr std::uint64_t kPollNs = 10'000'000;

}  // namespace

std::optional<std::span<const std::byte>> Mailbox::ask(VcpuId vcpu, wire::MailboxRequest kind,
                                                       GuestVirt address, std::size_t bytes,
                                                       std::chrono::milliseconds patience) {
  if (broken_) return std::nullopt;
  wire::RingHeader& header = ring_->header();
  const std::uint32_t number = header.requested.load(std::memory_order_relaxed) + 1;
  header.request_vcpu.store(vcpu.value, std::memory_order_relaxed);
  header.request_address.store(address.value, std::memory_order_relaxed);
  header.request_bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
  header.request.store(kind, std::memory_order_relaxed);
  header.requested.store(number, std::memory_order_release);
  ring_->ring_doorbell();
  const std::uint64_t until = monotonic_ns() + std::chrono::nanoseconds(patience).count();
  while (true) {
    const std::uint32_t seen = header.bell.load(std::memory_order_acquire);
    if (header.answered.load(std::memory_order_acquire) == number) break;
    std::uint32_t claimed = number - 1;
    if (monotonic_ns() < until) {
      wire::futex_wait(header.bell, seen, until);
    } else if (header.claimed.compare_exchange_strong(claimed, number)) {
      return std::nullopt;  // taken back
    } else if (monotonic_ns() >= until + kAnswerNs) {
      broken_ = true;
      return std::nullopt;
    } else {
      // A vCPU is about to answer, and the host may not run it at the moment.
      wire::futex_wait(header.bell, seen, monotonic_ns() + kPollNs);
    }
  }
  const std::size_t answer = header.answer_bytes.load(std::memory_order_relaxed);
  return ring_->mailbox().first(std::min(answer, ring_->mailbox().size()));
}

std::optional<std::size_t> Mailbox::read(VcpuId vcpu, wire::MailboxRequest kind, GuestVirt address,
                                         std::span<std::byte> destination,
                                         std::chrono::milliseconds patience) {
  const std::size_t wanted = std::min(destination.size(), ring_->mailbox().size());
  const auto answer = ask(vcpu, kind, address, wanted, patience);
  if (!answer) return std::nullopt;
  const std::size_t got = std::min(answer->size(), wanted);
  if (got != 0) std::memcpy(destination.data(), answer->data(), got);
  return got;
}

std::optional<arch::Registers> Mailbox::registers(VcpuId vcpu, std::chrono::milliseconds patience) {
  const auto answer = ask(vcpu, wire::MailboxRequest::kRegisters, {}, 0, patience);
  if (!answer) return std::nullopt;
  wire::Capture capture;
  const auto record = wire::read_record(*answer, capture);
  if (!record || record->kind != wire::RecordKind::kCapture) return std::nullopt;
  return capture.registers;
}

}  // namespace ringside::engines::tcg
