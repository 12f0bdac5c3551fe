#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>

#include "base/clock.h"
#include "plugin/arguments.h"
#include "plugin/drain.h"
#include "plugin/host_time_pacer.h"
#include "plugin/instruction_pacer.h"

// What QEMU calls. Everything lives as long as QEMU: its threads use it until the process ends.

namespace ringside::plugin {
namespace {

struct Plugin {
  qemu_plugin_id_t id = 0;
  SharedRing ring;
  OutputFile file;
  std::unique_ptr<Drain> drain;  // where no ringside reads the ring
  std::unique_ptr<VcpuState[]> vcpus;
  std::unique_ptr<Pacer> pacer;
};

// The file may be given twice, by two paths: QEMU then installs it twice, and the dynamic linker
// has it once. Few are ever needed: one for each -plugin.
std::array<Plugin*, 8> the_plugins{};

Plugin& plugin_of(qemu_plugin_id_t id) {
  for (Plugin* const plugin : the_plugins)
    if (plugin != nullptr && plugin->id == id) return *plugin;
  std::abort();  // QEMU calls none that it has not installed
}

Arch arch_of(const char* target) {
  struct Name {
    const char* target;
    Arch arch;
  };
  constexpr Name kNames[] = {{"x86_64", Arch::kX86_64},
                             {"i386", Arch::kI386},
                             {"aarch64", Arch::kAArch64},
                             {"riscv64", Arch::kRiscv64}};
  for (const Name& name : kNames)
    if (std::strcmp(target, name.target) == 0) return name.arch;
  return Arch::kUnknown;
}

// Nothing is sampled then: see Pacer::is_its_thread().
void notice_shared_thread(const Plugin& plugin, unsigned vcpu) {
  const VcpuState* const vcpus = plugin.vcpus.get();
  for (unsigned n = 0; n < plugin.ring.vcpus(); ++n) {
    if (n == vcpu || !vcpus[n].online.load(std::memory_order_acquire) ||
        ::pthread_equal(vcpus[n].thread, vcpus[vcpu].thread) == 0)
      continue;
    if (plugin.ring.header().one_thread.exchange(1) == 0)
      std::fprintf(stderr,
                   "ringside: all vCPUs share one thread (-icount or thread=single), where plugins "
                   "cannot tell them apart: nothing is sampled; use one vCPU, or ringside's gdb "
                   "engine\n");
    return;
  }
}

void on_vcpu_init(qemu_plugin_id_t id, unsigned vcpu) {
  Plugin& plugin = plugin_of(id);
  if (vcpu >= plugin.ring.vcpus()) return;
  plugin.vcpus[vcpu].thread = ::pthread_self();
  notice_shared_thread(plugin, vcpu);
  if (plugin.drain) plugin.drain->on_vcpu_start();
  plugin.pacer->on_start(vcpu);
  plugin.vcpus[vcpu].idle.store(false, std::memory_order_release);
  plugin.vcpus[vcpu].online.store(true, std::memory_order_release);
  plugin.ring.vcpu(vcpu).online.store(1, std::memory_order_release);
}

void on_vcpu_exit(qemu_plugin_id_t id, unsigned vcpu) {
  Plugin& plugin = plugin_of(id);
  if (vcpu >= plugin.ring.vcpus()) return;
  plugin.vcpus[vcpu].online.store(false, std::memory_order_release);
  plugin.ring.vcpu(vcpu).online.store(0, std::memory_order_release);
}

// QEMU may tell of a vCPU's sleep before it has told of the vCPU; to set the flag of such a one
// would make QEMU abort.
bool is_online(const Plugin& plugin, unsigned vcpu) {
  return vcpu < plugin.ring.vcpus() && plugin.vcpus[vcpu].online.load(std::memory_order_acquire);
}

void on_idle(qemu_plugin_id_t id, unsigned vcpu) {
  const Plugin& plugin = plugin_of(id);
  if (is_online(plugin, vcpu)) plugin.pacer->on_idle(vcpu);
}

void on_resume(qemu_plugin_id_t id, unsigned vcpu) {
  const Plugin& plugin = plugin_of(id);
  if (is_online(plugin, vcpu)) plugin.pacer->on_resume(vcpu);
}

void on_translation(qemu_plugin_id_t id, qemu_plugin_tb* block) {
  plugin_of(id).pacer->instrument(block);
}

void on_exit(qemu_plugin_id_t id, void*) {
  Plugin& plugin = plugin_of(id);
  if (plugin.drain) plugin.drain->finish();
  plugin.ring.header().ended.store(1, std::memory_order_release);
  plugin.ring.ring_bell();
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
bool stand_alone(Plugin& plugin, const StandAlone& wishes, Arch arch, wire::RingClock clock) {
  const unsigned vcpus = plugin.ring.vcpus();
  if (!plugin.file.open(wishes.out, wishes.format,
                        file_header(arch, vcpus, clock, wishes.interval)))
    return false;
  for (unsigned n = 0; n < vcpus; ++n)
    plugin.vcpus[n].vcpu.write_for_file(wishes.format == OutFormat::kMaestro);
  plugin.drain = std::make_unique<Drain>(plugin.ring, arch, wishes, plugin.file);
  return true;
}

int install(qemu_plugin_id_t id, const qemu_info_t& info, int argc, char** argv) {
  const auto arguments = parse_arguments(argc, argv);
  if (!arguments) return 1;
  const Arch arch = arch_of(info.target_name);
  if (!info.system_emulation || arch == Arch::kUnknown) {
    std::fprintf(stderr,
                 "ringside: the plugin profiles whole systems of x86_64, i386, aarch64 and "
                 "riscv64, not '%s'%s\n",
                 info.target_name, info.system_emulation ? "" : " programs");
    return 1;
  }
  const auto place = std::find(the_plugins.begin(), the_plugins.end(), nullptr);
  if (place == the_plugins.end()) {
    std::fprintf(stderr, "ringside: no more than %zu plugins in one QEMU\n", the_plugins.size());
    return 1;
  }
  auto plugin = std::make_unique<Plugin>();
  plugin->id = id;
  const auto vcpus = static_cast<unsigned>(info.system.max_vcpus);
  if (!plugin->ring.create(arguments->ring, arch, vcpus, static_cast<unsigned>(info.version.cur),
                           arguments->clock))
    return 1;
  plugin->vcpus = std::make_unique<VcpuState[]>(vcpus);
  for (unsigned n = 0; n < vcpus; ++n) plugin->vcpus[n].vcpu.attach(plugin->ring, n, arch);
  if (arguments->stand_alone &&
      !stand_alone(*plugin, *arguments->stand_alone, arch, arguments->clock))
    return 1;
  if (arguments->clock == wire::RingClock::kHostTime)
    plugin->pacer = std::make_unique<HostTimePacer>(plugin->ring, plugin->vcpus.get(), arch);
  else
    plugin->pacer =
        std::make_unique<InstructionPacer>(plugin->ring, plugin->vcpus.get(), arguments->wait);
  *place = plugin.release();
  qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
  qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
  qemu_plugin_register_vcpu_idle_cb(id, on_idle);
  qemu_plugin_register_vcpu_resume_cb(id, on_resume);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}

}  // namespace
}  // namespace ringside::plugin

extern "C" {

// The interface that this was written for: reads of registers and of virtual memory.
__attribute__((visibility("default"))) int qemu_plugin_version = 4;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t* info, int argc,
                                                               char** argv) {
  return ringside::plugin::install(id, *info, argc, argv);
}

}  // extern "C"
