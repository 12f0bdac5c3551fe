#include "session/process_list.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "base/clock.h"
#include "guestos/linux/files/page_cache_file.h"

namespace ringside::session {
namespace {

constexpr engines::Pace kPace{.interval = 5'000'000};  // ns

// Where the list of tasks is entered: the first task, or the one in the kernel's register for it.
std::optional<GuestVirt> find_any_task(const elf::Image& kernel, const wire::Capture& running) {
  if (const auto init = kernel.file->symbol_named("init_task"))
    return kernel.to_guest(init->address);
  const arch::Registers& registers = running.registers;
  if (running.arch == Arch::kAArch64 && registers.has(arch::aarch64::kSpEl0))
    return GuestVirt{registers.get(arch::aarch64::kSpEl0)};
  if (running.arch == Arch::kRiscv64 && registers.has(arch::riscv64::kTp))
    return GuestVirt{registers.get(arch::riscv64::kTp)};
  return std::nullopt;
}

}  // namespace

ProcessLister::~ProcessLister() {
  if (started_) engine_->self_paced()->stop();
}

Result<engines::Tick> ProcessLister::tick() {
  if (engines::SelfPaced* const pace = engine_->self_paced(); pace != nullptr && !started_) {
    RINGSIDE_TRY(pace->start(kPace));
    started_ = true;
  }
  const std::vector<engines::VcpuPlan> plans(engine_->vcpu_count());
  engines::TickPlan plan;
  plan.vcpus = plans;
  return engine_->tick(plan);
}

Result<const wire::Capture*> ProcessLister::find_kernel(engines::Tick& tick) {
  RINGSIDE_TRY(watch_.poll(*engine_, tick, monotonic_ns()).map([](const auto&) {}));
  if (watch_.kernel() == nullptr) {
    if (!watch_.explain().empty()) why_ = watch_.explain();
    return nullptr;
  }
  const elf::Image& kernel = watch_.kernel()->image;
  const auto runs_it = [&kernel](const wire::Capture& capture) {
    const std::uint8_t pc = arch::roles_of(capture.arch).pc;
    return capture.level == PrivilegeLevel::kKernel && capture.registers.has(pc) &&
           kernel.file->is_code(kernel.to_image({capture.registers.get(pc)}));
  };
  const auto found = std::find_if(tick.captures.begin(), tick.captures.end(), runs_it);
  return found == tick.captures.end() ? nullptr : &*found;
}

Result<std::optional<ProcessList>> ProcessLister::poll() {
  RINGSIDE_ASSIGN(engines::Tick taken, tick());
  if (taken.paused_by_user) {
    why_ = "the guest is paused";
    return std::nullopt;
  }
  RINGSIDE_ASSIGN(const wire::Capture* const running, find_kernel(taken));
  if (running == nullptr) return std::nullopt;
  RINGSIDE_TRY(view_.adopt(*running, watch_.adapter().page_table_root()).map([](bool) {}));
  auto list = read(*running);
  if (list || !guestos::is_of_memory(list.error().code)) return list;
  why_ = list.error().message;
  return std::nullopt;
}

Result<std::optional<ProcessList>> ProcessLister::read(const wire::Capture& running) {
  const elf::Image& kernel = watch_.kernel()->image;
  if (!layout_) {
    if (watch_.adapter().name() != "linux")
      return fail(ErrorCode::kUnsupported,
                  "the processes of a guest are known if it is Linux; this one is: {}",
                  watch_.adapter().name());
    RINGSIDE_ASSIGN(const auto source, guestos::open_types(kernel.file, debug_files_));
    RINGSIDE_ASSIGN(auto types, guestos::LinuxTypes::of(*kernel.file, *source));
    RINGSIDE_ASSIGN(const auto fields, guestos::ProcessFields::of(*kernel.file, *source));
    layout_ = Layout{std::move(types), fields, std::nullopt, std::nullopt};
    if (const auto clock = guestos::ClockFields::of(*kernel.file, *source)) layout_->clock = *clock;
    if (const auto paths = guestos::PathLookupFields::of(*kernel.file, *source))
      layout_->paths = *paths;
  }
  const auto any_task = find_any_task(kernel, running);
  if (!any_task)
    return fail(ErrorCode::kUnsupported,
                "no process of the guest is known: its kernel's symbols lack init_task, and its "
                "registers do not say which task runs (--kernel vmlinux has the symbol)");
  const guestos::KernelReader reader(view_.kernel(), layout_->types.arch);
  ProcessList list;
  RINGSIDE_ASSIGN(list.threads,
                  guestos::read_threads(layout_->types, layout_->fields, reader, *any_task));
  if (layout_->clock) {
    RINGSIDE_ASSIGN(list.clock, guestos::read_clock(kernel, *layout_->clock, reader));
  }
  RINGSIDE_ASSIGN(list.memory_bytes,
                  guestos::read_memory_size(kernel, reader, layout_->types.page_size));
  return list;
}

Result<std::string> ProcessLister::arguments(const guestos::LinuxThread& thread) {
  constexpr std::uint64_t kMost = 4096;
  const std::uint64_t size = thread.arguments_end - thread.arguments;
  if (!layout_ || thread.mm.value == 0 || size == 0) return std::string();
  const guestos::KernelReader reader(view_.kernel(), layout_->types.arch);
  const auto root = reader.pointer(thread.mm + layout_->types.mm.pgd.offset);
  if (!root) {
    if (guestos::is_of_memory(root.error().code)) return std::string();
    return tl::unexpected<Error>(root.error());
  }
  std::string text(std::min(size, kMost), '\0');
  RINGSIDE_ASSIGN(const auto process, view_.process_space(*root));
  RINGSIDE_ASSIGN(const std::size_t got,
                  process->read_up_to(thread.arguments, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

Result<guestos::UserNames> ProcessLister::user_names(const ProcessList& list) {
  const auto init =
      std::find_if(list.threads.begin(), list.threads.end(),
                   [](const guestos::LinuxThread& thread) { return thread.tid == 1; });
  if (!layout_ || !layout_->paths || view_.physical() == nullptr || init == list.threads.end())
    return guestos::UserNames();
  constexpr unsigned kTries = 3;
  for (unsigned tries = 0; tries < kTries; ++tries) {
    auto names = read_passwd(init->task);
    if (names) return names;
    if (names.error().code == ErrorCode::kUnsupported) break;
    if (!guestos::is_of_memory(names.error().code)) return names;
  }
  return guestos::UserNames();
}

Result<guestos::UserNames> ProcessLister::read_passwd(GuestVirt task) {
  const guestos::LinuxTypes& types = layout_->types;
  const guestos::KernelReader reader(view_.kernel(), types.arch);
  RINGSIDE_ASSIGN(const auto file,
                  guestos::find_guest_file(types, *layout_->paths, reader, task, "/etc/passwd"));
  if (!file || file->identity.size > guestos::kMaxPasswd) return guestos::UserNames();
  RINGSIDE_ASSIGN(const auto frames,
                  guestos::PageFrames::find(types, watch_.kernel()->image, view_.kernel(), task));
  RINGSIDE_ASSIGN(const auto cached,
                  guestos::read_cached_file(types, reader, frames, *view_.physical(), *file));
  return cached.whole() ? guestos::parse_passwd(cached.bytes) : guestos::UserNames();
}

}  // namespace ringside::session
