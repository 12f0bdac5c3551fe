#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>

#include "arch/arch_info.h"
#include "base/clock.h"
#include "plugin/arguments.h"
#include "plugin/host_time_pacer.h"
#include "plugin/instruction_pacer.h"
#include "plugin/stand_alone/drain.h"
#include "plugin/versioned_api.h"
#include "wire/plugin_question.h"

// The functions that QEMU calls. Everything lives as long as QEMU: its threads use it until the
// process ends.

namespace ringside::plugin {
namespace {

class Plugin final : public Events {
 public:
  // Returns false, and says why, where it cannot be.
  [[nodiscard]] bool set_up(const Arguments& arguments, Arch arch, const qemu_info_t& info);

  void on_vcpu_init(unsigned vcpu) override;
  void on_vcpu_exit(unsigned vcpu) override;
  void on_idle(unsigned vcpu) override;
  void on_resume(unsigned vcpu) override;
  void on_translation(qemu_plugin_tb* block) override { pacer_->instrument(block); }
  void on_exit() override;

 private:
  void notice_shared_thread(unsigned vcpu);
  // QEMU may report a vCPU's sleep before it has reported the vCPU; to set the flag of such a one
  // would make QEMU abort.
  [[nodiscard]] bool is_online(unsigned vcpu) const;
  [[nodiscard]] bool stand_alone(const StandAlone& wishes, Arch arch, wire::RingClock clock);

  SharedRing ring_;
  OutputFile file_;
  std::unique_ptr<Drain> drain_;  // where no ringside reads the ring
  std::unique_ptr<VcpuState[]> vcpus_;
  std::unique_ptr<Pacer> pacer_;
};

// Nothing is sampled then: see Pacer::is_its_thread().
void Plugin::notice_shared_thread(unsigned vcpu) {
  for (unsigned n = 0; n < ring_.vcpus(); ++n) {
    if (n == vcpu || !vcpus_[n].online.load(std::memory_order_acquire) ||
        ::pthread_equal(vcpus_[n].thread, vcpus_[vcpu].thread) == 0)
      continue;
    if (ring_.header().one_thread.exchange(1) == 0)
      std::fprintf(stderr,
                   "ringside: all vCPUs share one thread (-icount or thread=single), where plugins "
                   "cannot distinguish them: nothing is sampled; use one vCPU, or ringside's gdb "
                   "engine\n");
    return;
  }
}

void Plugin::on_vcpu_init(unsigned vcpu) {
  if (vcpu >= ring_.vcpus()) return;
  vcpus_[vcpu].thread = ::pthread_self();
  notice_shared_thread(vcpu);
  if (drain_) drain_->on_vcpu_start();
  pacer_->on_start(vcpu);
  vcpus_[vcpu].idle.store(false, std::memory_order_release);
  vcpus_[vcpu].online.store(true, std::memory_order_release);
  ring_.vcpu(vcpu).online.store(1, std::memory_order_release);
}

void Plugin::on_vcpu_exit(unsigned vcpu) {
  if (vcpu >= ring_.vcpus()) return;
  vcpus_[vcpu].online.store(false, std::memory_order_release);
  ring_.vcpu(vcpu).online.store(0, std::memory_order_release);
}

bool Plugin::is_online(unsigned vcpu) const {
  return vcpu < ring_.vcpus() && vcpus_[vcpu].online.load(std::memory_order_acquire);
}

void Plugin::on_idle(unsigned vcpu) {
  if (is_online(vcpu)) pacer_->on_idle(vcpu);
}

void Plugin::on_resume(unsigned vcpu) {
  if (is_online(vcpu)) pacer_->on_resume(vcpu);
}

void Plugin::on_exit() {
  if (drain_) drain_->finish();
  ring_.header().ended.store(1, std::memory_order_release);
  ring_.ring_bell();
}

wire::SampleFileHeader file_header(Arch arch, unsigned vcpus, wire::RingClock clock,
                                   std::uint64_t interval) {
  wire::SampleFileHeader header;
  header.arch = static_cast<std::uint32_t>(arch);
  header.vcpus = vcpus;
  header.clock = clock;
  header.interval = interval;
  header.start_monotonic_ns = monotonic_ns();
  timespec wall{};
  ::clock_gettime(CLOCK_REALTIME, &wall);
  header.start_wall_ns = static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000u +
                         static_cast<std::uint64_t>(wall.tv_nsec);
  return header;
}

// Samples without ringside; false where the file cannot be written.
bool Plugin::stand_alone(const StandAlone& wishes, Arch arch, wire::RingClock clock) {
  const unsigned vcpus = ring_.vcpus();
  if (!file_.open(wishes.out, wishes.format, file_header(arch, vcpus, clock, wishes.interval)))
    return false;
  if (wishes.format == OutFormat::kMaestro) {
    ring_.source(wire::SourceId::kClock).kind = wire::RecordKind::kEvent;
    for (unsigned n = 0; n < vcpus; ++n) vcpus_[n].vcpu.walk_stacks();
  }
  drain_ = std::make_unique<Drain>(ring_, arch, wishes, file_);
  return true;
}

bool Plugin::set_up(const Arguments& arguments, Arch arch, const qemu_info_t& info) {
  const auto vcpus = static_cast<unsigned>(info.system.max_vcpus);
  if (!ring_.create(arguments.ring, arch, vcpus, static_cast<unsigned>(info.version.cur),
                    arguments.clock))
    return false;
  vcpus_ = std::make_unique<VcpuState[]>(vcpus);
  for (unsigned n = 0; n < vcpus; ++n) vcpus_[n].vcpu.attach(ring_, n, arch);
  if (arguments.stand_alone && !stand_alone(*arguments.stand_alone, arch, arguments.clock))
    return false;
  if (arguments.clock == wire::RingClock::kHostTime)
    pacer_ = std::make_unique<HostTimePacer>(ring_, vcpus_.get(), arch);
  else
    pacer_ = std::make_unique<InstructionPacer>(ring_, vcpus_.get(), arguments.wait);
  return true;
}

int install(qemu_plugin_id_t id, const qemu_info_t& info, int argc, char** argv) {
  if (argc == 1 && std::strcmp(argv[0], wire::kPluginQuestion) == 0) {
    std::printf("%s%d %d\n", wire::kPluginAnswer, info.version.min, info.version.cur);
    std::fflush(stdout);
    return 1;
  }
  const auto arguments = parse_arguments(argc, argv);
  if (!arguments) return 1;
  const Arch arch = arch::arch_named(info.target_name);
  if (!info.system_emulation || arch == Arch::kUnknown) {
    std::fprintf(stderr,
                 "ringside: the plugin profiles whole systems of x86_64, i386, aarch64 and "
                 "riscv64, not '%s'%s\n",
                 info.target_name, info.system_emulation ? "" : " programs");
    return 1;
  }
  auto plugin = std::make_unique<Plugin>();
  if (!plugin->set_up(*arguments, arch, info)) return 1;
  if (!report_to(id, *plugin)) {
    std::fprintf(stderr, "ringside: there are too many plugins in this QEMU already\n");
    return 1;
  }
  (void)plugin.release();  // QEMU's threads use it until the process ends
  return 0;
}

}  // namespace
}  // namespace ringside::plugin

extern "C" __attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                                          const qemu_info_t* info,
                                                                          int argc, char** argv) {
  return ringside::plugin::install(id, *info, argc, argv);
}
