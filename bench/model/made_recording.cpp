// Writes a recording with as many samples of as many distinct stacks as are asked for. Functions
// call each other by a fixed graph, in which a few calls are taken far more often than the others;
// each call has an address of its own. Two of three stacks are kernel code on the user code that
// entered it. The same arguments give the same recording, but for the version in its header.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/dense_table.h"
#include "elf/elf_writer.h"
#include "recording/writer.h"

namespace ringside {
namespace {

constexpr std::uint32_t kKernelFunctions = 6000;
constexpr std::uint32_t kUserFunctions = 2500;
constexpr std::uint32_t kCallsPerFunction = 12;
constexpr std::uint64_t kFunctionSize = 512;
constexpr std::uint64_t kCallDistance = 32;
constexpr std::uint64_t kKernelBase = 0xffffffff81000000;
constexpr std::uint64_t kUserBase = 0x400000;
constexpr std::uint32_t kProcesses = 14;
constexpr std::uint32_t kThreadsPerProcess = 3;
constexpr std::uint16_t kVcpus = 2;
constexpr std::uint64_t kIntervalNs = 1'000'000;
constexpr unsigned kInfoOfGlobalFunction = 0x12;  // STB_GLOBAL, STT_FUNC

// The functions of one image, and which of them call which.
class Code {
 public:
  Code(std::uint32_t functions, std::uint64_t base, FrameKind kind)
      : functions_(functions), base_(base), kind_(kind) {}

  [[nodiscard]] std::string name(std::uint32_t function) const {
    static constexpr std::array kParts = {"ext4", "tcp",  "vfs",   "page", "sched", "rcu", "blk",
                                          "inet", "slab", "futex", "xfs",  "skb",   "irq", "mmap"};
    static constexpr std::array kVerbs = {"read",   "write",   "alloc", "free",
                                          "lookup", "commit",  "queue", "attach",
                                          "update", "release", "find"};
    static constexpr std::array kThings = {"iter", "entry", "range", "folio",  "node",
                                           "work", "cache", "inode", "segment"};
    const std::uint64_t hash = mixed(function + base_);
    return fmt::format("{}_{}_{}_{:x}", kParts[hash % kParts.size()],
                       kVerbs[(hash >> 16) % kVerbs.size()], kThings[(hash >> 32) % kThings.size()],
                       function);
  }
  [[nodiscard]] std::uint32_t callee(std::uint32_t function, std::uint32_t call) const {
    return static_cast<std::uint32_t>(mixed(std::uint64_t{function} << 8 | call) % functions_);
  }
  [[nodiscard]] Frame frame(std::uint32_t function, std::uint32_t call, std::uint32_t image) const {
    Frame frame;
    frame.address = {base_ + function * kFunctionSize + (call + 1) * kCallDistance};
    frame.source = FrameSource::kOrc;
    frame.kind = kind_;
    frame.image = image;
    return frame;
  }
  [[nodiscard]] StopReason end_of_stacks() const {
    return kind_ == FrameKind::kUser ? StopReason::kUser : StopReason::kUserMode;
  }
  // An ELF file with the names.
  [[nodiscard]] std::vector<std::byte> elf() const {
    elf::ElfWriter writer(Arch::kX86_64, true, 2);
    writer.add_segment({base_}, functions_ * kFunctionSize, true, false, {});
    std::vector<std::string> names;
    for (std::uint32_t f = 0; f < functions_; ++f) names.push_back(name(f));
    std::vector<elf::ElfWriter::Symbol> symbols;
    for (std::uint32_t f = 0; f < functions_; ++f)
      symbols.push_back({.name = names[f],
                         .address = {base_ + f * kFunctionSize},
                         .size = kFunctionSize,
                         .info = kInfoOfGlobalFunction});
    writer.set_symbols(std::move(symbols));
    return writer.write();
  }

 private:
  std::uint32_t functions_;
  std::uint64_t base_;
  FrameKind kind_;
};

// A stack as the calls that lead to its leaf, root first; one byte each. An empty one is no part.
struct Calls {
  std::string user;
  std::string kernel;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // A stack that was not given before.
  Calls next() {
    for (;;) {
      Calls calls;
      const bool in_kernel = random_() % 3 != 0;
      calls.user = part(in_kernel ? 5 : 9);
      if (in_kernel) calls.kernel = part(9);
      if (known_.insert(std::hash<std::string>()(calls.user + '|' + calls.kernel)).second)
        return calls;
    }
  }
  // Small numbers far more often than large ones.
  std::uint32_t skewed(std::uint32_t limit) {
    const double share = static_cast<double>(random_() >> 11) / 9007199254740992.0;
    return static_cast<std::uint32_t>(share * share * share * limit);
  }

 private:
  std::string part(std::uint32_t mean_depth) {
    std::string calls;
    const std::uint64_t depth = mean_depth / 2 + random_() % mean_depth;
    for (std::uint64_t i = 0; i < depth; ++i) calls += static_cast<char>(skewed(kCallsPerFunction));
    return calls;
  }

  std::mt19937_64 random_;
  std::unordered_set<std::size_t> known_;
};

Stack unwound(const std::string& calls, std::uint32_t entry, const Code& code,
              std::uint32_t image) {
  Stack stack;
  std::uint32_t function = entry;
  for (const char call : calls) {
    stack.frames.push_back(code.frame(function, static_cast<unsigned char>(call), image));
    function = code.callee(function, static_cast<unsigned char>(call));
  }
  stack.frames.push_back(code.frame(function, 0, image));
  std::reverse(stack.frames.begin(), stack.frames.end());
  stack.frames.front().exact = true;
  stack.stop = code.end_of_stacks();
  return stack;
}

recording::Header header() {
  recording::Header header;
  header.arch = Arch::kX86_64;
  header.vcpu_count = kVcpus;
  header.interval_ns = kIntervalNs;
  header.engine = "tcg";
  header.guest_os = "linux";
  header.kernel = "a made-up kernel";
  return header;
}

Result<std::uint32_t> add_image(recording::Writer& writer, const std::string& name,
                                const Code& code) {
  recording::ImageInfo image;
  image.name = name;
  image.arch = Arch::kX86_64;
  RINGSIDE_ASSIGN(const std::uint32_t id, writer.add_image(image));
  const std::vector<std::byte> elf = code.elf();
  RINGSIDE_TRY(writer.add_blob({recording::kImageFileBlob, id, elf}));
  return id;
}

Result<void> write(const std::string& path, std::uint64_t stacks, std::uint64_t samples) {
  const Code kernel(kKernelFunctions, kKernelBase, FrameKind::kKernel);
  const Code program(kUserFunctions, kUserBase, FrameKind::kUser);
  RINGSIDE_ASSIGN(auto writer, recording::Writer::create(path, header()));
  RINGSIDE_ASSIGN(const std::uint32_t kernel_image, add_image(writer, "kernel", kernel));
  RINGSIDE_ASSIGN(const std::uint32_t program_image, add_image(writer, "program", program));
  for (std::uint32_t pid = 1; pid <= kProcesses; ++pid)
    RINGSIDE_TRY(writer.add_thread_name({0, pid, 0, 0, fmt::format("worker-{}", pid), {}}));

  Generator generator(stacks);
  std::vector<Calls> known;
  recording::SampleInfo info;
  for (std::uint64_t i = 0; i < samples; ++i) {
    if (i < stacks) known.push_back(generator.next());
    const std::uint64_t which =
        i < stacks ? i : generator.skewed(static_cast<std::uint32_t>(known.size()));
    const Calls& calls = known[which];
    // A stack belongs to one thread, as far as it is of any.
    const auto thread =
        static_cast<std::uint32_t>(mixed(which) % (kProcesses * kThreadsPerProcess));
    info.time_ns = i / kVcpus * kIntervalNs;
    info.vcpu = {static_cast<std::uint16_t>(i % kVcpus)};
    info.pid = 1 + thread % kProcesses;
    info.tid = 100 + thread;
    info.address_space = *info.pid;
    info.level = calls.kernel.empty() ? PrivilegeLevel::kUser : PrivilegeLevel::kKernel;
    const Stack user = unwound(calls.user, thread % 5, program, program_image);
    const Stack entered = unwound(calls.kernel, thread % 3, kernel, kernel_image);
    const std::array<const Stack*, 2> parts = {&entered, &user};
    RINGSIDE_TRY(writer.add_sample(info, std::span(parts).subspan(calls.kernel.empty() ? 1 : 0)));
  }
  recording::Statistics statistics;
  statistics.due = samples;
  statistics.duration_ns = samples / kVcpus * kIntervalNs;
  RINGSIDE_TRY(writer.add_statistics(statistics));
  return writer.finish();
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  CLI::App app("Writes a made-up recording.");
  std::uint64_t stacks = 600'000;
  std::uint64_t samples = 0;
  std::string path;
  app.add_option("--stacks", stacks, "distinct stacks")->capture_default_str();
  app.add_option("--samples", samples, "samples; by default one of each stack");
  app.add_option("FILE", path, "the recording")->required();
  CLI11_PARSE(app, argc, argv);
  if (const auto written = ringside::write(path, stacks, std::max(stacks, samples)); !written) {
    fmt::print(stderr, "made_recording: {}\n", written.error().message);
    return 1;
  }
  return 0;
}
