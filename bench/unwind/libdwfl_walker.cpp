#include "libdwfl_walker.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

namespace ringside::bench {
namespace {

constexpr pid_t kProcess = 1;
constexpr int kRegisters = 17;  // x86_64's: DWARF numbers 0 to 16, the last is the pc

// The modules are called by their files' paths.
int find_elf(Dwfl_Module*, void**, const char* path, Dwarf_Addr, char** file, Elf**) {
  *file = strdup(path);
  return open(path, O_RDONLY | O_CLOEXEC);
}

int find_no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                       GElf_Word, char**) {
  return -1;
}

constexpr Dwfl_Callbacks kCallbacks{.find_elf = find_elf,
                                    .find_debuginfo = find_no_debug_file,
                                    .section_address = dwfl_offline_section_address,
                                    .debuginfo_path = nullptr};

pid_t next_thread(Dwfl*, void*, void**) { return 0; }

bool get_thread(Dwfl*, pid_t, void* self, void** thread) {
  *thread = self;
  return true;
}

}  // namespace

LibdwflWalker::LibdwflWalker(const elf::ImageMap& images)
    : images_(images), dwfl_(dwfl_begin(&kCallbacks)) {}

Result<std::unique_ptr<LibdwflWalker>> LibdwflWalker::make(const elf::ImageMap& images) {
  auto walker = std::unique_ptr<LibdwflWalker>(new LibdwflWalker(images));
  RINGSIDE_TRY(walker->attach());
  return walker;
}

Result<void> LibdwflWalker::attach() {
  dwfl_report_begin(dwfl_);
  for (const elf::Image& image : images_.images()) RINGSIDE_TRY(report(image));
  dwfl_report_end(dwfl_, nullptr, nullptr);
  static constexpr Dwfl_Thread_Callbacks kThreads{.next_thread = next_thread,
                                                  .get_thread = get_thread,
                                                  .memory_read = read_memory,
                                                  .set_initial_registers = set_registers,
                                                  .detach = nullptr,
                                                  .thread_detach = nullptr};
  if (!dwfl_attach_state(dwfl_, nullptr, kProcess, &kThreads, this))
    return fail(ErrorCode::kUnsupported, "dwfl_attach_state: {}", dwfl_errmsg(-1));
  return {};
}

LibdwflWalker::~LibdwflWalker() { dwfl_end(dwfl_); }

// As dwfl_linux_kernel_report does: dwfl_report_elf would not move an ET_EXEC. The module starts
// where its first segment lies; Linux's per-CPU segment at address 0 is no part of it.
Result<void> LibdwflWalker::report(const elf::Image& image) {
  const ImageAddr start = image.file->segments().front().address;
  ImageAddr end = start;
  for (const elf::Segment& segment : image.file->segments())
    end = std::max(end, segment.address + segment.memory_size);
  if (dwfl_report_module(dwfl_, image.file->name().c_str(), image.to_guest(start).value,
                         image.to_guest(end).value) == nullptr)
    return fail(ErrorCode::kUnsupported, "dwfl_report_module: {}: {}", image.file->name(),
                dwfl_errmsg(-1));
  return {};
}

std::size_t LibdwflWalker::walk(const wire::Capture& capture, std::size_t limit) {
  const unwind::StackMemory memory(capture, images_);
  memory_ = &memory;
  limit_ = limit;
  addresses_.clear();
  (void)dwfl_getthread_frames(dwfl_, kProcess, add_frame, this);
  memory_ = nullptr;
  return addresses_.size();
}

bool LibdwflWalker::read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* self) {
  const auto value = static_cast<LibdwflWalker*>(self)->memory_->read_u64({address});
  if (!value) return false;
  *word = *value;
  return true;
}

bool LibdwflWalker::set_registers(Dwfl_Thread* thread, void* self) {
  const arch::Registers& registers =
      static_cast<LibdwflWalker*>(self)->memory_->capture().registers;
  Dwarf_Word values[kRegisters];
  std::copy_n(registers.values, kRegisters, values);
  return dwfl_thread_state_registers(thread, 0, kRegisters, values);
}

int LibdwflWalker::add_frame(Dwfl_Frame* frame, void* self) {
  auto& walker = *static_cast<LibdwflWalker*>(self);
  Dwarf_Addr pc = 0;
  if (!dwfl_frame_pc(frame, &pc, nullptr)) return DWARF_CB_ABORT;
  walker.addresses_.push_back(pc);
  return walker.addresses_.size() < walker.limit_ ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace ringside::bench
