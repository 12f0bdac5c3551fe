#include "engines/gdb/stub_transport.h"

#include <algorithm>
#include <utility>

#include "arch/arch_info.h"
#include "base/clock.h"
#include "engines/gdb/protocol/thread_info.h"
#include "engines/gdb/register_layout.h"
#include "memory/page_tables.h"

namespace ringside::engines::gdb {

void StubTransport::ask_by_number(const wire::Capture& capture, AskedFor when) {
  const auto numbers = inventory_.layout.numbers_for_p(when);
  for (std::size_t n = 0; n < numbers.size(); ++n)
    if (when == AskedFor::kEverySample || inventory_.layout.is_wanted(when, n, capture.registers))
      requests_.push_back(
          {Request::What::kRegister, capture.vcpu, fmt::format("p{:x}", numbers[n]), n, when});
}

void StubTransport::ask_registers(const wire::Capture& capture) {
  requests_.push_back({Request::What::kRegisters, capture.vcpu, "g"});
  ask_by_number(capture, AskedFor::kEverySample);
  if (const std::string& name = inventory_.threads[capture.vcpu.value].name; !name.empty())
    requests_.push_back({Request::What::kExtra, capture.vcpu, "qThreadExtraInfo," + name});
}

// The registers that a walk needs and a capture lacks. False: none.
bool StubTransport::ask_for_walk(const wire::Capture& capture) {
  const std::size_t before = requests_.size();
  const auto of_walk = memory::registers_of_walks(capture.arch);
  const auto numbers = inventory_.layout.numbers_for_p(AskedFor::kOnDemand);
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const std::uint8_t id = inventory_.layout.id_of(AskedFor::kOnDemand, n);
    if (std::find(of_walk.begin(), of_walk.end(), id) != of_walk.end())
      requests_.push_back({Request::What::kOfWalk, capture.vcpu, fmt::format("p{:x}", numbers[n]),
                           n, AskedFor::kOnDemand});
  }
  if (const auto number = inventory_.layout.other_translation_number())
    requests_.push_back(
        {Request::What::kOtherTranslation, capture.vcpu, fmt::format("p{:x}", *number)});
  return requests_.size() != before;
}

void StubTransport::find_memory(const wire::Capture& capture) {
  Vcpu& vcpu = vcpus_[capture.vcpu.value];
  const auto of_walk = memory::registers_of_walks(capture.arch);
  const bool has_all = std::all_of(of_walk.begin(), of_walk.end(),
                                   [&](std::uint8_t id) { return vcpu.of_walk.has(id); });
  if (!has_all || vcpu.translates_otherwise) return;
  vcpu.tables = memory::page_tables_of(capture.arch, vcpu.of_walk);
  if (vcpu.tables) vcpu.memory.emplace(*vcpu.tables, pages_);
}

bool StubTransport::ask_more(wire::Capture& capture, bool copies) {
  const bool is_user = capture.level == PrivilegeLevel::kUser;
  if (capture.disposition == wire::Disposition::kSampled && !is_user)
    ask_by_number(capture, AskedFor::kKernelSample);
  const bool is_physical = capture.level == PrivilegeLevel::kFirmware &&
                           arch::info_of(capture.arch).firmware_is_physical;
  const bool has_walk = is_user || capture.level == PrivilegeLevel::kKernel || is_physical;
  // A recipe asks for what firmware has interrupted.
  if (ram_ == nullptr || !copies || !has_walk) return copies && is_physical;
  vcpus_[capture.vcpu.value].of_walk = capture.registers;
  if (ask_for_walk(capture)) {
    waiting_.push_back(capture.vcpu);
    return true;
  }
  find_memory(capture);
  return is_physical;
}

memory::StoppedMemory* StubTransport::direct_memory(VcpuId vcpu) {
  auto& memory = vcpus_[vcpu.value].memory;
  return memory ? &*memory : nullptr;
}

std::size_t StubTransport::read(VcpuId vcpu, GuestVirt address, std::size_t size) {
  const std::size_t first = chunks_.size();
  for_each_chunk(address, size, reads_.chunk, [&](GuestVirt at, std::size_t bytes) {
    requests_.push_back(
        {Request::What::kChunk, vcpu, memory_request(reads_, at, bytes), chunks_.size()});
    chunks_.push_back({bytes, {}});
  });
  all_reads_.push_back({first, chunks_.size() - first});
  return all_reads_.size() - 1;
}

// `Hg`, where the stub's general thread is another one.
void StubTransport::select(VcpuId vcpu) {
  if (selected_ == vcpu) return;
  selected_ = vcpu;
  const std::string& name = inventory_.threads[vcpu.value].name;
  if (name.empty()) return;
  batch_.add("Hg" + name);
  expected_.push_back(nullptr);
}

// Those of the vCPU that is selected come first.
void StubTransport::write_requests() {
  batch_.clear();
  expected_.clear();
  const std::size_t vcpus = inventory_.threads.size();
  const std::size_t first = selected_ ? selected_->value : 0;
  const auto order = [=](const Request& request) {
    return (request.vcpu.value + vcpus - first) % vcpus;
  };
  std::stable_sort(requests_.begin(), requests_.end(),
                   [&](const Request& a, const Request& b) { return order(a) < order(b); });
  for (const Request& request : requests_) {
    select(request.vcpu);
    batch_.add(request.payload);
    expected_.push_back(&request);
  }
}

void StubTransport::take(const Request& request, std::string& reply) {
  wire::Capture& capture = captures_[request.vcpu.value];
  Vcpu& vcpu = vcpus_[request.vcpu.value];
  switch (request.what) {
    case Request::What::kRegisters:
      inventory_.layout.decode_g(reply, capture.registers);
      break;
    case Request::What::kRegister:
      inventory_.layout.decode_p(request.asked_for, request.index, reply, capture.registers);
      break;
    case Request::What::kExtra:
      if (parse_thread_extra(reply).halted) capture.disposition = wire::Disposition::kIdle;
      break;
    case Request::What::kOfWalk:
      inventory_.layout.decode_p(request.asked_for, request.index, reply, vcpu.of_walk);
      break;
    case Request::What::kOtherTranslation:
      vcpu.translates_otherwise = inventory_.layout.translates_otherwise(reply);
      break;
    case Request::What::kChunk:
      chunks_[request.index].reply = std::move(reply);
      break;
  }
}

void StubTransport::take(std::vector<std::string>& replies) {
  for (std::size_t i = 0; i < replies.size(); ++i)
    if (expected_[i] != nullptr) take(*expected_[i], replies[i]);
  requests_.clear();
  for (const VcpuId vcpu : std::exchange(waiting_, {})) find_memory(captures_[vcpu.value]);
}

Result<bool> StubTransport::stop(std::span<wire::Capture> captures) {
  captures_ = captures;
  for (const wire::Capture& capture : captures)
    if (capture.disposition != wire::Disposition::kSkipped) ask_registers(capture);
  write_requests();
  // Pages are read ahead while QEMU still answers.
  RINGSIDE_ASSIGN(auto stopped, stub_.stop(batch_, [this] {
    host_waits_.poll_again();
    if (ram_ != nullptr) pages_.start(*ram_);
  }));
  if (!stopped.ours && !captures_paused_) return false;
  resumes_ = stopped.ours;
  pause_.began_ns = stopped.stopped_ns;
  if (!stopped.ours) host_waits_.forget();
  take(stopped.replies);
  return true;
}

Result<void> StubTransport::exchange(bool last) {
  write_requests();
  const bool resumes = last && resumes_;
  // Where somebody else has let the guest run meanwhile, our next byte stops it again and is
  // swallowed: that must not be the continue's. An answer that is missing reports it.
  if (resumes && batch_.empty() && stub_.traits().qemu) {
    batch_.add("qAttached");
    expected_.push_back(nullptr);
  }
  if (!batch_.empty()) {
    RINGSIDE_ASSIGN(auto replies,
                    resumes ? stub_.exchange_and_resume(batch_) : stub_.exchange(batch_));
    take(replies);
  } else if (resumes) {
    RINGSIDE_TRY(stub_.resume());
  }
  if (last)
    pause_.length_ns = resumes ? stub_.held_time().last_ns() : monotonic_ns() - pause_.began_ns;
  return {};
}

// Ends where its first chunk comes short.
std::size_t StubTransport::decode(std::size_t read, std::span<std::byte> destination) const {
  std::size_t done = 0;
  for (std::size_t i = 0; i < all_reads_[read].count; ++i) {
    const Chunk& chunk = chunks_[all_reads_[read].first + i];
    const std::size_t got =
        decode_memory(reads_, chunk.reply, destination.subspan(done, chunk.size));
    done += got;
    if (got < chunk.size) break;
  }
  return done;
}

}  // namespace ringside::engines::gdb
