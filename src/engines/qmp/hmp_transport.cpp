#include "engines/qmp/hmp_transport.h"

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "base/little_endian.h"
#include "engines/qmp/hmp_memory.h"
#include "engines/qmp/hmp_registers.h"
#include "memory/page_tables.h"

namespace ringside::engines::qmp {
namespace {

using Instruction = std::array<std::byte, WaitInstructions::kSize>;

// Nothing where fewer bytes came.
std::optional<std::uint64_t> instruction_in(const Instruction& bytes, std::size_t got) {
  if (got < bytes.size()) return std::nullopt;
  return load<std::uint32_t>(bytes);
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
    if (ram_ != nullptr) vcpu.tables = memory::page_tables_of(arch_, capture.registers);
    if (vcpu.tables)
      vcpu.memory.emplace(*vcpu.tables, pages_, memory::StoppedMemory::NoRam::kIsTheEnd);
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
  if (!waits && vcpu.memory && level == PrivilegeLevel::kKernel) {
    Instruction bytes{};
    const auto read = vcpu.memory->read(pc - WaitInstructions::kSize, bytes);
    waits = waits_.learn(arch_, pc, instruction_in(bytes, read.bytes));
  }
  vcpu.may_wait = !waits;
  if (waits && *waits) capture.disposition = wire::Disposition::kIdle;
}

bool HmpTransport::ask_more(wire::Capture& capture, bool) {
  Vcpu& vcpu = vcpus_[capture.vcpu.value];
  if (!std::exchange(vcpu.may_wait, false)) return false;
  const GuestVirt pc{capture.registers.get(arch::roles_of(arch_).pc)};
  vcpu.before_pc = read(capture.vcpu, pc - WaitInstructions::kSize, WaitInstructions::kSize);
  return false;
}

void HmpTransport::take_wait(wire::Capture& capture) {
  const auto before_pc = std::exchange(vcpus_[capture.vcpu.value].before_pc, std::nullopt);
  if (!before_pc) return;
  Instruction bytes{};
  const std::size_t got = decode(*before_pc, bytes);
  const GuestVirt pc = reads_[*before_pc].address + WaitInstructions::kSize;
  if (waits_.learn(arch_, pc, instruction_in(bytes, got)))
    capture.disposition = wire::Disposition::kIdle;
}

memory::StoppedMemory* HmpTransport::direct_memory(VcpuId vcpu) {
  auto& memory = vcpus_[vcpu.value].memory;
  return memory ? &*memory : nullptr;
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
  RINGSIDE_ASSIGN(const auto answers, hold_.begin(registers));
  host_waits_.poll_again();
  if (hold_.found_paused()) return false;
  if (ram_ != nullptr) pages_.start(*ram_);
  take_registers(text_of(answers[0]));
  return true;
}

Result<void> HmpTransport::exchange(bool last) {
  const Requests requests = std::exchange(requests_, {});
  RINGSIDE_ASSIGN(const auto answers, last ? hold_.end(requests) : hold_.exchange(requests));
  for (const nlohmann::json& answer : answers) reads_[taken_++].text = text_of(answer);
  for (wire::Capture& capture : captures_) take_wait(capture);
  return {};
}

std::size_t HmpTransport::decode(std::size_t read, std::span<std::byte> destination) const {
  return parse_dump(reads_[read].text, reads_[read].address.value, destination);
}

}  // namespace ringside::engines::qmp
