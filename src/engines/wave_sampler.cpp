#include "engines/wave_sampler.h"

#include <array>
#include <utility>

#include "base/little_endian.h"
#include "wire/classify.h"

namespace ringside::engines {
namespace {

using Word = std::array<std::byte, sizeof(std::uint64_t)>;

// A little-endian number of which `got` bytes came; nothing where those are not all.
std::optional<std::uint64_t> number_in(const Word& bytes, std::size_t got, std::size_t size) {
  if (got < size) return std::nullopt;
  return load<std::uint64_t>(bytes);
}

}  // namespace

WaveSampler::WaveSampler(WaveTransport& transport, Arch arch, std::size_t vcpus)
    : transport_(transport), captures_(vcpus), runs_(vcpus) {
  for (std::size_t i = 0; i < vcpus; ++i) {
    captures_[i].vcpu = VcpuId{static_cast<std::uint16_t>(i)};
    captures_[i].arch = arch;
  }
}

// False: nothing is wanted.
bool WaveSampler::plan_captures(const TickPlan& plan) {
  bool any = false;
  for (std::size_t i = 0; i < captures_.size(); ++i) {
    const bool wanted = i < plan.vcpus.size() && plan.vcpus[i].wanted;
    if (!wanted) captures_[i].disposition = wire::Disposition::kSkipped;
    any |= wanted;
  }
  return any;
}

// A halted vCPU is one like the others where it is to be sampled.
void WaveSampler::take_halted() {
  for (wire::Capture& capture : captures_)
    if (capture.disposition == wire::Disposition::kIdle)
      capture.disposition = wire::Disposition::kSampled;
}

void WaveSampler::classify(std::size_t vcpu, const TickPlan& plan) {
  wire::Capture& capture = captures_[vcpu];
  if (capture.disposition == wire::Disposition::kSkipped ||
      capture.disposition == wire::Disposition::kFailed)
    return;
  const bool copies = wire::classify(capture, {plan.kernel, plan.user}, plan.recipe_arch);
  runs_[vcpu].waits = transport_.ask_more(capture, copies);
  if (!copies) return;
  const VcpuPlan& wanted = plan.vcpus[vcpu];
  const bool user = capture.level == PrivilegeLevel::kUser;
  runs_[vcpu].recipe.emplace(wanted.recipe, capture.registers,
                             user ? wanted.user_budget : wanted.kernel_budget);
}

// False: it has to be exchanged.
bool WaveSampler::load_now(std::size_t vcpu, const wire::MemoryRequest& request) {
  memory::StoppedMemory* const direct = transport_.direct_memory(captures_[vcpu].vcpu);
  if (direct == nullptr) return false;
  Word bytes{};
  const auto read = direct->read(request.read_at, std::span(bytes).first(request.size));
  if (read.is_certain) runs_[vcpu].recipe->loaded(number_in(bytes, read.bytes, request.size));
  return read.is_certain;
}

// The same. Pieces stay in the recipe's order: behind one that is exchanged all are.
bool WaveSampler::copy_now(std::size_t vcpu, const wire::MemoryRequest& request) {
  wire::Capture& capture = captures_[vcpu];
  memory::StoppedMemory* const direct = transport_.direct_memory(capture.vcpu);
  if (direct == nullptr || !runs_[vcpu].copies.empty()) return false;
  std::vector<std::byte>& bytes = capture.bytes;
  const std::size_t start = bytes.size();
  if (request.what != wire::MemoryRequest::What::kValue) {
    bytes.resize(start + request.size);
    const auto read = direct->read(request.read_at, std::span(bytes).subspan(start));
    bytes.resize(start + (read.is_certain ? read.bytes : 0));
    if (!read.is_certain) return false;
  }
  wire::finish_piece(capture, request, start);
  return true;
}

// Lets the recipe of one vCPU run up to its next load that has to be exchanged; false when it has
// ended.
bool WaveSampler::advance(std::size_t vcpu) {
  Run& run = runs_[vcpu];
  if (run.waits) return true;
  while (const auto request = run.recipe->next()) {
    if (request->is_load() ? load_now(vcpu, *request) : copy_now(vcpu, *request)) continue;
    Copy copy{*request, std::nullopt};
    if (request->what != wire::MemoryRequest::What::kValue)
      copy.read = transport_.read(captures_[vcpu].vcpu, request->read_at, request->size);
    if (request->is_load()) {
      run.load = copy;
      return true;
    }
    run.copies.push_back(copy);
  }
  run.recipe.reset();
  return false;
}

void WaveSampler::take_load(std::size_t vcpu) {
  Run& run = runs_[vcpu];
  run.waits = false;
  if (captures_[vcpu].disposition == wire::Disposition::kIdle) run.recipe.reset();
  const auto load = std::exchange(run.load, std::nullopt);
  if (!load || !run.recipe) return;
  Word bytes{};
  const std::size_t size = load->request.size;
  const std::size_t got = transport_.decode(*load->read, std::span(bytes).first(size));
  run.recipe->loaded(number_in(bytes, got, size));
}

Result<void> WaveSampler::run_waves(const TickPlan& plan) {
  for (;;) {
    bool more = false;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (runs_[i].recipe) more |= advance(i);
    RINGSIDE_TRY(transport_.exchange(!more));
    if (plan.halted) take_halted();
    if (!more) return {};
    for (std::size_t i = 0; i < runs_.size(); ++i) take_load(i);
  }
}

void WaveSampler::decode_copies(std::size_t vcpu) {
  wire::Capture& capture = captures_[vcpu];
  if (capture.disposition == wire::Disposition::kIdle) {
    capture.pieces.clear();
    capture.bytes.clear();
    return;
  }
  for (const Copy& copy : runs_[vcpu].copies) {
    std::vector<std::byte>& bytes = capture.bytes;
    const std::size_t start = bytes.size();
    if (copy.read) {
      bytes.resize(start + copy.request.size);
      bytes.resize(start + transport_.decode(*copy.read, std::span(bytes).subspan(start)));
    }
    wire::finish_piece(capture, copy.request, start);
  }
}

Result<Tick> WaveSampler::run(const TickPlan& plan) {
  WaveTransport::Pause pause;
  if (plan_captures(plan)) {  // else the guest need not stop
    RINGSIDE_ASSIGN(const bool stopped, transport_.stop(captures_));
    if (!stopped) return Tick::of_guest(LeftAlone::kPaused);
    if (plan.halted) take_halted();
    for (std::size_t i = 0; i < captures_.size(); ++i) classify(i, plan);
    RINGSIDE_TRY(run_waves(plan));
    pause = transport_.pause();
  }
  Tick tick;
  tick.pause_ns = pause.length_ns;
  for (std::size_t i = 0; i < captures_.size(); ++i) {
    captures_[i].host_time_ns = pause.began_ns;
    captures_[i].pause_ns = pause.length_ns;
    decode_copies(i);
  }
  tick.captures = std::move(captures_);
  return tick;
}

}  // namespace ringside::engines
