#include "engines/gdb/sampler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "engines/gdb/protocol/thread_info.h"
#include "engines/gdb/register_layout.h"
#include "wire/classify.h"

namespace ringside::engines::gdb {
void Sampler::add(std::string_view request, Expected expected) {
  batch_.add(request);
  expected_.push_back(expected);
}

// `Hg`, where the stub's general thread is another one.
void Sampler::select(std::size_t index) {
  const VcpuThread& thread = *vcpus_[index].thread;
  if (selected_ == thread.vcpu) return;
  selected_ = thread.vcpu;
  if (!thread.name.empty()) add("Hg" + thread.name, {Expected::What::kNothing, index});
}

// The vCPU that is selected comes first.
std::vector<std::size_t> Sampler::asking_order() const {
  std::vector<std::size_t> order;
  const std::size_t first = selected_ ? selected_->value : 0;
  for (std::size_t n = 0; n < vcpus_.size(); ++n) order.push_back((first + n) % vcpus_.size());
  return order;
}

void Sampler::request_by_number(std::size_t index, AskedFor when) {
  const auto numbers = inventory_.layout.numbers_for_p(when);
  const arch::Registers& known = vcpus_[index].capture.registers;
  for (std::size_t n = 0; n < numbers.size(); ++n)
    if (when == AskedFor::kEverySample || inventory_.layout.is_wanted(when, n, known))
      add(fmt::format("p{:x}", numbers[n]), {Expected::What::kRegister, index, n, when, 0});
}

void Sampler::request_registers() {
  for (const std::size_t i : asking_order()) {
    if (vcpus_[i].plan == nullptr) continue;
    select(i);
    add("g", {Expected::What::kRegisters, i});
    request_by_number(i, AskedFor::kEverySample);
    if (const std::string& name = vcpus_[i].thread->name; !name.empty())
      add("qThreadExtraInfo," + name, {Expected::What::kExtra, i});
  }
}

void Sampler::take_registers(const std::vector<std::string>& replies, const TickPlan& plan) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Expected& expected = expected_[i];
    Vcpu& vcpu = vcpus_[expected.vcpu];
    arch::Registers& registers = vcpu.capture.registers;
    switch (expected.what) {
      case Expected::What::kRegisters:
        inventory_.layout.decode_g(replies[i], registers);
        break;
      case Expected::What::kRegister:
        inventory_.layout.decode_p(expected.asked_for, expected.index, replies[i], registers);
        break;
      case Expected::What::kExtra:
        if (parse_thread_extra(replies[i]).halted)
          vcpu.capture.disposition = wire::Disposition::kIdle;
        break;
      default:
        break;
    }
  }
  for (Vcpu& vcpu : vcpus_) classify(vcpu, plan);
}

void Sampler::classify(Vcpu& vcpu, const TickPlan& plan) {
  wire::Capture& capture = vcpu.capture;
  if (vcpu.plan == nullptr) return;
  const bool copies = wire::classify(capture, {plan.kernel, plan.user}, plan.recipe_arch);
  const bool user = capture.level == PrivilegeLevel::kUser;
  vcpu.wants_kernel_registers =
      capture.disposition == wire::Disposition::kSampled && capture.level != PrivilegeLevel::kUser;
  if (!copies) return;
  vcpu.recipe.emplace(vcpu.plan->recipe, capture.registers,
                      user ? vcpu.plan->user_budget : vcpu.plan->kernel_budget);
}

// Lets the recipe of one vCPU run up to its next load; false when it has ended.
bool Sampler::advance(std::size_t index) {
  Vcpu& vcpu = vcpus_[index];
  while (const auto request = vcpu.recipe->next()) {
    select(index);
    if (request->is_load()) {
      add(memory_request(reads_, request->read_at, request->size),
          {Expected::What::kLoad, index, 0, AskedFor::kEverySample, request->size});
      return true;
    }
    const std::size_t piece = vcpu.pieces.size();
    vcpu.pieces.push_back(*request);
    if (request->what == wire::MemoryRequest::What::kValue) continue;
    for_each_chunk(request->read_at, request->size, reads_.chunk,
                   [&](GuestVirt address, std::size_t size) {
                     add(memory_request(reads_, address, size),
                         {Expected::What::kCopy, index, vcpu.copies.size()});
                     vcpu.copies.push_back({static_cast<std::uint32_t>(size), piece, {}});
                   });
  }
  vcpu.recipe.reset();
  return false;
}

// Collects the reads of all vCPUs, first those of the vCPU that is selected. True if a recipe waits
// for a load, so that another wave follows.
bool Sampler::build_wave() {
  batch_.clear();
  expected_.clear();
  bool waits = false;
  for (const std::size_t index : asking_order()) {
    if (std::exchange(vcpus_[index].wants_kernel_registers, false) &&
        !inventory_.layout.numbers_for_p(AskedFor::kKernelSample).empty()) {
      select(index);
      request_by_number(index, AskedFor::kKernelSample);
    }
    if (vcpus_[index].recipe) waits |= advance(index);
  }
  return waits;
}

void Sampler::take_wave(std::vector<std::string>& replies) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Expected& expected = expected_[i];
    Vcpu& vcpu = vcpus_[expected.vcpu];
    if (expected.what == Expected::What::kCopy) {
      vcpu.copies[expected.index].reply = std::move(replies[i]);
    } else if (expected.what == Expected::What::kLoad) {
      std::array<std::byte, sizeof(std::uint64_t)> bytes{};
      const auto wanted = std::span(bytes).first(expected.size);
      if (decode_memory(reads_, replies[i], wanted) == wanted.size()) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data(), sizeof(value));
        vcpu.recipe->loaded(value);
      } else {
        vcpu.recipe->loaded(std::nullopt);
      }
    } else if (expected.what == Expected::What::kRegister) {
      inventory_.layout.decode_p(expected.asked_for, expected.index, replies[i],
                                 vcpu.capture.registers);
    }
  }
}

Result<void> Sampler::run_waves() {
  for (;;) {
    const bool more = build_wave();
    if (batch_.empty()) return resumes_ ? stub_.resume() : Result<void>();
    RINGSIDE_ASSIGN(auto replies,
                    more || !resumes_ ? stub_.exchange(batch_) : stub_.exchange_and_resume(batch_));
    take_wave(replies);
    if (!more) return {};
  }
}

// A piece ends where its first chunk comes short.
void Sampler::decode_copies(Vcpu& vcpu) const {
  std::vector<std::byte>& bytes = vcpu.capture.bytes;
  std::size_t next = 0;
  for (std::size_t i = 0; i < vcpu.pieces.size(); ++i) {
    const std::size_t start = bytes.size();
    bool ended = false;
    for (; next < vcpu.copies.size() && vcpu.copies[next].piece == i; ++next) {
      if (ended) continue;
      const RawCopy& copy = vcpu.copies[next];
      const std::size_t at = bytes.size();
      bytes.resize(at + copy.size);
      const std::size_t got = decode_memory(reads_, copy.reply, std::span(bytes).subspan(at));
      bytes.resize(at + got);
      ended = got < copy.size;
    }
    wire::finish_piece(vcpu.capture, vcpu.pieces[i], start);
  }
}

Result<Tick> Sampler::run(const TickPlan& plan, HoldPoint hold) {
  for (std::size_t i = 0; i < inventory_.threads.size(); ++i) {
    const bool wanted = i < plan.vcpus.size() && plan.vcpus[i].wanted;
    Vcpu vcpu{&inventory_.threads[i], wanted ? &plan.vcpus[i] : nullptr, {}, {}};
    vcpu.capture.vcpu = inventory_.threads[i].vcpu;
    vcpu.capture.arch = inventory_.layout.arch();
    if (!wanted) vcpu.capture.disposition = wire::Disposition::kSkipped;
    vcpus_.push_back(std::move(vcpu));
  }
  request_registers();
  // Nothing wanted: the guest need not stop.
  if (!batch_.empty()) {
    RINGSIDE_ASSIGN(const auto stopped, stub_.stop(batch_, hold));
    if (!stopped.ours && !captures_paused_) return Tick::of_paused_guest();
    resumes_ = stopped.ours;
    take_registers(stopped.replies, plan);
    RINGSIDE_TRY(run_waves());
    const std::uint64_t pause = monotonic_ns() - stopped.stopped_ns;
    for (Vcpu& vcpu : vcpus_) {
      vcpu.capture.host_time_ns = stopped.stopped_ns;
      vcpu.capture.pause_ns = pause;
    }
  }
  Tick tick;
  for (Vcpu& vcpu : vcpus_) {
    decode_copies(vcpu);
    tick.pause_ns = vcpu.capture.pause_ns;
    tick.captures.push_back(std::move(vcpu.capture));
  }
  return tick;
}

}  // namespace ringside::engines::gdb
