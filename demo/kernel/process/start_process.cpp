#include "process/start_process.h"

#include "core/memory.h"
#include "core/steady_state.h"
#include "process/address_space.h"
#include "process/elf_loader.h"
#include "process/metadata_page.h"
#include "sampling/redox_contexts.h"

extern "C" [[noreturn]] void enter_user(u64 rip, u64 rsp);

namespace {

constexpr u64 kUserStackTop = 0x7fffffff0000, kUserStackPages = 4;
constexpr u64 kSavedRegisters = 20 * 8;  // arch/asm.h
u64 g_last_pid;

}  // namespace

extern "C" void process_main(void* argument) {
  auto* process = static_cast<Process*>(argument);
  wait_for_steady_state();
  process->user_since = moment();
  // As if _start had been called, from 0: there its stack ends.
  enter_user(process->entry, kUserStackTop - sizeof(u64));
}

void start_process(const Program& program) {
  auto* process = static_cast<Process*>(allocate(sizeof(Process)));
  AddressSpace space;
  process->pid = __atomic_add_fetch(&g_last_pid, 1, __ATOMIC_SEQ_CST);
  process->name = program.name;
  name_redox_context(static_cast<u32>(process->pid), program.name);
  auto& metadata = *static_cast<ProcessMetadata*>(space.add_page(kMetadataPage));
  metadata.pid = process->pid;
  process->entry = load_elf(program, space, metadata);
  for (u64 page = 1; page <= kUserStackPages; ++page) space.add_page(kUserStackTop - page * 4096);
  Thread* thread = new_thread(process_main, process);
  metadata.user_registers = thread->kernel_stack - kSavedRegisters;
  thread->page_table = space.root();
  thread->process = process;
}
