#include "engines/qmp/hmp_sampler.h"

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "engines/qmp/hmp_memory.h"
#include "engines/qmp/hmp_registers.h"
#include "memory/page_tables.h"
#include "wire/classify.h"

namespace ringside::engines::qmp {
namespace {

std::string text_of(nlohmann::json& answer) {
  auto* const text = answer.get_ptr<std::string*>();
  return text != nullptr ? std::move(*text) : std::string();
}

// A little-endian number of at most 8 bytes, nothing where not all of it can be read.
std::optional<std::uint64_t> number_at(memory::AddressSpace& space, GuestVirt address,
                                       std::size_t size) {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  const auto got = space.read_up_to(address, std::span(bytes).first(size));
  if (!got || *got < size) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// The same where the monitor has printed it.
std::optional<std::uint64_t> number_in(std::string_view text, GuestVirt address, std::size_t size) {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  if (parse_dump(text, address.value, std::span(bytes).first(size)) < size) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

}  // namespace

void HmpSampler::add(const Expected& expected) {
  requests_.add_human(dump_command("x", expected.address.value, expected.size),
                      vcpus_[expected.vcpu].capture.vcpu);
  expected_.push_back(expected);
}

void HmpSampler::take_registers(const std::string& text, const TickPlan& plan) {
  for (Vcpu& vcpu : vcpus_)
    if (vcpu.plan != nullptr) vcpu.capture.disposition = wire::Disposition::kFailed;
  for (const PrintedVcpu& printed : parse_info_registers(arch_, text)) {
    if (printed.vcpu.value >= vcpus_.size()) continue;  // plugged in since
    Vcpu& vcpu = vcpus_[printed.vcpu.value];
    if (vcpu.plan == nullptr) continue;
    vcpu.capture.registers = printed.registers;
    vcpu.capture.disposition =
        printed.halted ? wire::Disposition::kIdle : wire::Disposition::kSampled;
    classify(vcpu, plan);
  }
}

void HmpSampler::classify(Vcpu& vcpu, const TickPlan& plan) {
  wire::Capture& capture = vcpu.capture;
  if (qemu_memory_ != nullptr) vcpu.tables = memory::page_tables_of(arch_, capture.registers);
  if (vcpu.tables) vcpu.space.emplace(*vcpu.tables, *qemu_memory_);
  if (WaitInstructions::has(arch_)) probe_wait(vcpu);
  if (!wire::classify(capture, {plan.kernel, plan.user}, plan.recipe_arch)) return;
  const bool user = capture.level == PrivilegeLevel::kUser;
  vcpu.recipe.emplace(vcpu.plan->recipe, capture.registers,
                      user ? vcpu.plan->user_budget : vcpu.plan->kernel_budget);
}

// An architecture whose text does not tell of halted vCPUs.
void HmpSampler::probe_wait(Vcpu& vcpu) {
  const arch::Registers& registers = vcpu.capture.registers;
  const std::uint8_t role = arch::roles_of(arch_).pc;
  const PrivilegeLevel level = arch::privilege_level_of(arch_, registers);
  if (!registers.has(role) || level == PrivilegeLevel::kUser) return;
  const GuestVirt pc{registers.get(role)};
  auto waits = waits_.is_behind(pc);
  // Firmware has no page tables.
  if (!waits && vcpu.space && level == PrivilegeLevel::kKernel)
    waits = waits_.learn(
        arch_, pc, number_at(*vcpu.space, pc - WaitInstructions::kSize, WaitInstructions::kSize));
  vcpu.may_wait = !waits;
  if (waits && *waits) vcpu.capture.disposition = wire::Disposition::kIdle;
}

// Out of QEMU's own memory.
void HmpSampler::copy_now(Vcpu& vcpu, const wire::MemoryRequest& request) {
  std::vector<std::byte>& bytes = vcpu.capture.bytes;
  const std::size_t start = bytes.size();
  if (request.what != wire::MemoryRequest::What::kValue) {
    bytes.resize(start + request.size);
    const auto got = vcpu.space->read_up_to(request.read_at, std::span(bytes).subspan(start));
    bytes.resize(start + got.value_or(0));
  }
  wire::finish_piece(vcpu.capture, request, start);
}

// Lets the recipe of one vCPU run up to its next load; false when it has ended.
bool HmpSampler::advance(std::size_t index) {
  Vcpu& vcpu = vcpus_[index];
  while (const auto request = vcpu.recipe->next()) {
    if (request->is_load() && vcpu.space) {
      vcpu.recipe->loaded(number_at(*vcpu.space, request->read_at, request->size));
    } else if (request->is_load()) {
      add({Expected::What::kLoad, index, request->read_at, request->size, 0});
      return true;
    } else if (vcpu.space) {
      copy_now(vcpu, *request);
    } else {
      vcpu.copies.push_back({*request, {}});
      if (request->what != wire::MemoryRequest::What::kValue)
        add({Expected::What::kCopy, index, request->read_at, request->size,
             vcpu.copies.size() - 1});
    }
  }
  vcpu.recipe.reset();
  return false;
}

// True if a recipe waits for a load, so that another wave follows.
bool HmpSampler::build_wave() {
  requests_ = {};
  expected_.clear();
  bool more = false;
  for (std::size_t i = 0; i < vcpus_.size(); ++i) {
    if (std::exchange(vcpus_[i].may_wait, false)) {
      const std::uint64_t pc = vcpus_[i].capture.registers.get(arch::roles_of(arch_).pc);
      add({Expected::What::kBeforePc, i, GuestVirt{pc - WaitInstructions::kSize},
           WaitInstructions::kSize, 0});
    }
    if (vcpus_[i].recipe) more |= advance(i);
  }
  return more;
}

void HmpSampler::take_wave(std::vector<nlohmann::json>& answers) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Expected& expected = expected_[i];
    Vcpu& vcpu = vcpus_[expected.vcpu];
    std::string text = text_of(answers[i]);
    if (expected.what == Expected::What::kCopy) {
      vcpu.copies[expected.copy].text = std::move(text);
      continue;
    }
    const auto value = number_in(text, expected.address, expected.size);
    if (expected.what == Expected::What::kLoad) {
      if (vcpu.recipe) vcpu.recipe->loaded(value);
    } else if (waits_.learn(arch_, expected.address + expected.size, value)) {
      vcpu.capture.disposition = wire::Disposition::kIdle;
      vcpu.recipe.reset();
    }
  }
}

Result<void> HmpSampler::run_waves() {
  for (;;) {
    const bool more = build_wave();
    RINGSIDE_ASSIGN(auto answers, more ? hold_.exchange(requests_) : hold_.end(requests_));
    take_wave(answers);
    if (!more) return {};
  }
}

void HmpSampler::decode_copies(Vcpu& vcpu) {
  wire::Capture& capture = vcpu.capture;
  if (capture.disposition == wire::Disposition::kIdle) {
    capture.pieces.clear();
    capture.bytes.clear();
    return;
  }
  for (const Copy& copy : vcpu.copies) {
    const std::size_t start = capture.bytes.size();
    capture.bytes.resize(start + copy.request.size);
    capture.bytes.resize(start + parse_dump(copy.text, copy.request.read_at.value,
                                            std::span(capture.bytes).subspan(start)));
    wire::finish_piece(capture, copy.request, start);
  }
}

Result<Tick> HmpSampler::run(const TickPlan& plan) {
  bool any = false;
  for (std::size_t i = 0; i < vcpus_.size(); ++i) {
    const bool wanted = i < plan.vcpus.size() && plan.vcpus[i].wanted;
    any |= wanted;
    wire::Capture& capture = vcpus_[i].capture;
    capture.vcpu = VcpuId{static_cast<std::uint16_t>(i)};
    capture.arch = arch_;
    if (wanted)
      vcpus_[i].plan = &plan.vcpus[i];
    else
      capture.disposition = wire::Disposition::kSkipped;
  }
  if (any) {  // else the guest need not stop
    requests_ = {};
    requests_.add_human("info registers -a");
    RINGSIDE_ASSIGN(auto answers, hold_.begin(requests_));
    host_waits_.poll_again();
    if (hold_.found_paused()) return Tick::of_paused_guest();
    take_registers(text_of(answers[0]), plan);
    RINGSIDE_TRY(run_waves());
  }
  Tick tick;
  tick.pause_ns = hold_.pause_ns();
  for (Vcpu& vcpu : vcpus_) {
    vcpu.capture.host_time_ns = hold_.began_ns();
    vcpu.capture.pause_ns = tick.pause_ns;
    decode_copies(vcpu);
    tick.captures.push_back(std::move(vcpu.capture));
  }
  return tick;
}

}  // namespace ringside::engines::qmp
