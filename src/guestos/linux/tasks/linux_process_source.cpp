#include "guestos/linux/tasks/linux_process_source.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "guestos/linux/files/page_cache_file.h"
#include "guestos/linux/tasks/user_names.h"

namespace ringside::guestos {

Result<std::unique_ptr<ProcessSource>> LinuxProcessSource::of(
    const elf::Image& kernel, const symbols::DebugFileOptions& debug_files) {
  RINGSIDE_ASSIGN(const auto types, open_types(kernel.file, debug_files));
  RINGSIDE_ASSIGN(auto structures, LinuxTypes::of(*kernel.file, *types));
  RINGSIDE_ASSIGN(const auto fields, ProcessFields::of(*kernel.file, *types));
  std::unique_ptr<LinuxProcessSource> source(
      new LinuxProcessSource(kernel, std::move(structures), fields));
  if (const auto clock = ClockFields::of(*kernel.file, *types)) source->clock_ = *clock;
  if (const auto paths = PathLookupFields::of(*kernel.file, *types)) source->paths_ = *paths;
  return source;
}

// Where the list of tasks is entered: the first task, or the one in the kernel's register for it.
std::optional<GuestVirt> LinuxProcessSource::find_any_task(const wire::Capture& running) const {
  if (const auto init = kernel_->file->symbol_named("init_task"))
    return kernel_->to_guest(init->address);
  const arch::Registers& registers = running.registers;
  if (running.arch == Arch::kAArch64 && registers.has(arch::aarch64::kSpEl0))
    return GuestVirt{registers.get(arch::aarch64::kSpEl0)};
  if (running.arch == Arch::kRiscv64 && registers.has(arch::riscv64::kTp))
    return GuestVirt{registers.get(arch::riscv64::kTp)};
  return std::nullopt;
}

Result<ProcessList> LinuxProcessSource::read(const wire::Capture& running,
                                             GuestMemory& memory) const {
  const auto any_task = find_any_task(running);
  if (!any_task)
    return fail(ErrorCode::kUnsupported,
                "no process of the guest is known: its kernel's symbols lack init_task, and its "
                "registers do not say which task runs (--kernel vmlinux has the symbol)");
  const KernelReader reader(memory.kernel(), types_.arch);
  ProcessList list;
  RINGSIDE_ASSIGN(list.threads, read_threads(types_, fields_, reader, *any_task));
  if (clock_) {
    RINGSIDE_ASSIGN(list.clock, read_clock(*kernel_, *clock_, reader));
  }
  RINGSIDE_ASSIGN(list.memory_bytes, read_memory_size(*kernel_, reader, types_.page_size));
  return list;
}

Result<std::string> LinuxProcessSource::arguments(const GuestThread& thread,
                                                  GuestMemory& memory) const {
  constexpr std::uint64_t kMost = 4096;
  const std::uint64_t size = thread.arguments_end - thread.arguments;
  if (thread.space.value == 0 || size == 0) return std::string();
  const KernelReader reader(memory.kernel(), types_.arch);
  const auto root = reader.pointer(thread.space + types_.mm.pgd.offset);
  if (!root) {
    if (is_of_memory(root.error().code)) return std::string();
    return tl::unexpected<Error>(root.error());
  }
  std::string text(std::min(size, kMost), '\0');
  RINGSIDE_ASSIGN(const auto process, memory.process_space(*root));
  RINGSIDE_ASSIGN(const std::size_t got,
                  process->read_up_to(thread.arguments, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

Result<UserNames> LinuxProcessSource::user_names(const ProcessList& list,
                                                 GuestMemory& memory) const {
  const auto init = std::find_if(list.threads.begin(), list.threads.end(),
                                 [](const GuestThread& thread) { return thread.tid == 1; });
  if (!paths_ || memory.physical() == nullptr || init == list.threads.end()) return UserNames();
  constexpr unsigned kTries = 3;
  for (unsigned tries = 0; tries < kTries; ++tries) {
    auto names = read_passwd(init->task, memory);
    if (names) return names;
    if (names.error().code == ErrorCode::kUnsupported) break;
    if (!is_of_memory(names.error().code)) return names;
  }
  return UserNames();
}

// Empty unless all of the file is in the guest's page cache.
Result<UserNames> LinuxProcessSource::read_passwd(GuestVirt task, GuestMemory& memory) const {
  const KernelReader reader(memory.kernel(), types_.arch);
  RINGSIDE_ASSIGN(const auto file, find_guest_file(types_, *paths_, reader, task, "/etc/passwd"));
  if (!file || file->identity.size > kMaxPasswd) return UserNames();
  RINGSIDE_ASSIGN(const auto frames, PageFrames::find(types_, *kernel_, memory.kernel(), task));
  RINGSIDE_ASSIGN(const auto cached,
                  read_cached_file(types_, reader, frames, *memory.physical(), *file));
  return cached.whole() ? parse_passwd(cached.bytes) : UserNames();
}

}  // namespace ringside::guestos
