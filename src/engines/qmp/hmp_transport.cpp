#include "engines/qmp/hmp_transport.h"

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "engines/qmp/hmp_memory.h"
#include "engines/qmp/hmp_registers.h"
#include "memory/page_tables.h"

namespace ringside::engines::qmp {
namespace {

std::string text_of(nlohmann::json& answer) {
  auto* const text = answer.get_ptr<std::string*>();
  return text != nullptr ? std::move(*text) : std::string();
}

}  // namespace

void HmpTransport::take_registers(const std::string& text) {
  for (wire::Capture& capture : captures_)
    if (capture.disposition == wire::Disposition::kSampled)
      capture.disposition = wire::Disposition::kFailed;
  for (const PrintedVcpu& printed : parse_info_registers(arch_, text)) {
    if (printed.vcpu.value >= vcpus_.size()) continue;  // plugged in since
    wire::Capture& capture = captures_[printed.vcpu.value];
    if (capture.disposition == wire::Disposition::kSkipped) continue;
    capture.registers = printed.registers;
    capture.disposition = printed.halted ? wire::Disposition::kIdle : wire::Disposition::kSampled;
    Vcpu& vcpu = vcpus_[printed.vcpu.value];
    if (qemu_memory_ != nullptr) vcpu.tables = memory::page_tables_of(arch_, capture.registers);
    if (vcpu.tables) vcpu.space.emplace(*vcpu.tables, *qemu_memory_);
    if (WaitInstructions::has(arch_)) probe_wait(capture);
  }
}

// An architecture whose text does not show halted vCPUs.
void HmpTransport::probe_wait(wire::Capture& capture) {
  Vcpu& vcpu = vcpus_[capture.vcpu.value];
  const arch::Registers& registers = capture.registers;
  const std::uint8_t role = arch::roles_of(arch_).pc;
  const PrivilegeLevel level = arch::privilege_level_of(arch_, registers);
  if (!registers.has(role) || level == PrivilegeLevel::kUser) return;
  const GuestVirt pc{registers.get(role)};
  auto waits = waits_.is_behind(pc);
  // Firmware has no page tables.
  if (!waits && vcpu.space && level == PrivilegeLevel::kKernel) {
    const auto before = vcpu.space->read_value<std::uint32_t>(pc - WaitInstructions::kSize);
    waits = waits_.learn(arch_, pc, before ? std::optional<std::uint64_t>(*before) : std::nullopt);
  }
  vcpu.may_wait = !waits;
  if (waits && *waits) capture.disposition = wire::Disposition::kIdle;
}

void HmpTransport::ask_more(wire::Capture& capture) {
  Vcpu& vcpu = vcpus_[capture.vcpu.value];
  if (!std::exchange(vcpu.may_wait, false)) return;
  const GuestVirt pc{capture.registers.get(arch::roles_of(arch_).pc)};
  vcpu.before_pc = read(capture.vcpu, pc - WaitInstructions::kSize, WaitInstructions::kSize);
}

void HmpTransport::take_wait(wire::Capture& capture) {
  const auto before_pc = std::exchange(vcpus_[capture.vcpu.value].before_pc, std::nullopt);
  if (!before_pc) return;
  std::array<std::byte, WaitInstructions::kSize> bytes{};
  std::optional<std::uint64_t> before;
  if (decode(*before_pc, bytes) == bytes.size()) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    before = value;
  }
  const GuestVirt pc = reads_[*before_pc].address + WaitInstructions::kSize;
  if (waits_.learn(arch_, pc, before)) capture.disposition = wire::Disposition::kIdle;
}

VirtualMemory* HmpTransport::direct_memory(VcpuId vcpu) {
  auto& space = vcpus_[vcpu.value].space;
  return space ? &*space : nullptr;
}

std::size_t HmpTransport::read(VcpuId vcpu, GuestVirt address, std::size_t size) {
  requests_.add_human(dump_command("x", address.value, size), vcpu);
  reads_.push_back({address, {}});
  return reads_.size() - 1;
}

Result<bool> HmpTransport::stop(std::span<wire::Capture> captures) {
  captures_ = captures;
  Requests registers;
  registers.add_human("info registers -a");
  RINGSIDE_ASSIGN(auto answers, hold_.begin(registers));
  host_waits_.poll_again();
  if (hold_.found_paused()) return false;
  take_registers(text_of(answers[0]));
  return true;
}

Result<void> HmpTransport::exchange(bool last) {
  const Requests requests = std::exchange(requests_, {});
  RINGSIDE_ASSIGN(auto answers, last ? hold_.end(requests) : hold_.exchange(requests));
  for (nlohmann::json& answer : answers) reads_[taken_++].text = text_of(answer);
  for (wire::Capture& capture : captures_) take_wait(capture);
  return {};
}

std::size_t HmpTransport::decode(std::size_t read, std::span<std::byte> destination) const {
  return parse_dump(reads_[read].text, reads_[read].address.value, destination);
}

}  // namespace ringside::engines::qmp
