#include "engines/gdb/inventory.h"

#include <algorithm>

#include "engines/gdb/protocol/packet.h"
#include "engines/gdb/protocol/target_description.h"
#include "engines/gdb/protocol/thread_info.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::size_t kMaxThreads = 4096;

Result<std::string> ask(Stub& stub, std::string_view request) {
  Batch batch;
  batch.add(request);
  RINGSIDE_ASSIGN(auto replies, stub.exchange(batch));
  return std::move(replies.front());
}

// A file of the stub's, which comes in pieces: "m" and a piece that is not the last, "l" and the
// last (gdb manual, "General Query Packets", qXfer).
Result<std::string> read_annex(Stub& stub, const std::string& name) {
  constexpr std::size_t kMaxAnnex = std::size_t{4} << 20;
  const std::size_t piece = stub.traits().packet_size - 16;
  std::string text;
  for (;;) {
    RINGSIDE_ASSIGN(
        const std::string reply,
        ask(stub, fmt::format("qXfer:features:read:{}:{:x},{:x}", name, text.size(), piece)));
    if (reply.empty() || (reply.front() != 'm' && reply.front() != 'l'))
      return fail(ErrorCode::kProtocol, "gdb stub: cannot read its {}: '{}'", name,
                  excerpt_of(reply));
    text.append(reply, 1);
    if (reply.front() == 'l') return text;
    if (reply.size() == 1 || text.size() > kMaxAnnex)
      return fail(ErrorCode::kProtocol, "gdb stub: its {} does not end", name);
  }
}

Result<std::vector<std::string>> list_threads(Stub& stub) {
  std::vector<std::string> all;
  RINGSIDE_ASSIGN(std::string reply, ask(stub, "qfThreadInfo"));
  // A stub that knows no threads answers nothing and has one vCPU, which no Hg has to choose.
  if (reply.empty()) return std::vector<std::string>{""};
  for (;;) {
    RINGSIDE_ASSIGN(auto threads, parse_thread_list(reply));
    if (!threads) break;
    all.insert(all.end(), threads->begin(), threads->end());
    if (all.size() > kMaxThreads)
      return fail(ErrorCode::kProtocol, "gdb stub: its list of threads does not end");
    RINGSIDE_ASSIGN(reply, ask(stub, "qsThreadInfo"));
  }
  if (all.empty()) return fail(ErrorCode::kProtocol, "gdb stub: it has no threads, so no vCPU");
  return all;
}

Result<std::vector<VcpuThread>> number_threads(Stub& stub, const std::vector<std::string>& names) {
  std::vector<VcpuThread> threads;
  bool all_say = true;
  for (const std::string& name : names) {
    std::string reply;
    if (!name.empty()) {
      RINGSIDE_ASSIGN(reply, ask(stub, "qThreadExtraInfo," + name));
    }
    const auto cpu = parse_thread_extra(reply).cpu;
    all_say &= cpu.has_value() && *cpu < kMaxThreads;
    threads.push_back({VcpuId{static_cast<std::uint16_t>(cpu.value_or(0))}, name});
  }
  if (all_say) {
    std::stable_sort(threads.begin(), threads.end(),
                     [](const auto& a, const auto& b) { return a.vcpu < b.vcpu; });
  }
  for (std::size_t i = 0; i < threads.size(); ++i) {
    // Numbers with gaps or twice the same (several clusters) are no numbers to go by.
    if (!all_say || threads[i].vcpu.value != i)
      threads[i].vcpu = VcpuId{static_cast<std::uint16_t>(i)};
  }
  return threads;
}

}  // namespace

Result<Inventory> take_inventory(Stub& stub, bool describes_registers) {
  TargetDescription description;
  if (describes_registers) {
    RINGSIDE_ASSIGN(const std::string text, read_annex(stub, "target.xml"));
    RINGSIDE_ASSIGN(description, parse_target_description(text, [&stub](const std::string& name) {
                      return read_annex(stub, name);
                    }));
  }
  RINGSIDE_ASSIGN(const auto names, list_threads(stub));
  RINGSIDE_ASSIGN(auto threads, number_threads(stub, names));
  Batch batch;
  if (!threads.front().name.empty()) batch.add("Hg" + threads.front().name);
  batch.add("g");
  batch.add("x0,0");
  batch.add("qqemu.PhyMemMode");
  RINGSIDE_ASSIGN(const auto replies, stub.exchange(batch));
  const std::string& registers = replies[replies.size() - 3];
  if (registers.empty() || registers.front() == 'E' || registers.size() % 2 != 0)
    return fail(ErrorCode::kProtocol, "gdb stub: it does not give its registers: '{}'",
                excerpt_of(registers));
  RINGSIDE_ASSIGN(RegisterLayout layout,
                  description.registers.empty()
                      ? RegisterLayout::fallback(registers.size() / 2)
                      : RegisterLayout::from_description(description, registers.size() / 2));
  return Inventory{std::move(threads), std::move(layout), replies[replies.size() - 2] == "b",
                   replies.back() == "0" || replies.back() == "1"};
}

}  // namespace ringside::engines::gdb
