#include "guestos/linux_adapter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

using namespace wire::x86_64;

constexpr std::uint64_t kIrqStackSize =
    16 * 1024;  // IRQ_STACK_SIZE, arch/x86/include/asm/page_64_types.h
constexpr std::uint64_t kPerCpuLimit = 1 << 24;  // per-CPU symbols are offsets from 0, below this

// struct pt_regs, arch/x86/include/asm/ptrace.h: part of the kernel's ABI with user space.
constexpr unwind::RegisterFrame pt_regs() {
  unwind::RegisterFrame frame;
  constexpr std::array<std::uint8_t, 15> kOrder = {kR15, kR14, kR13, kR12, kRbp, kRbx, kR11, kR10,
                                                   kR9,  kR8,  kRax, kRcx, kRdx, kRsi, kRdi};
  for (std::size_t i = 0; i < kOrder.size(); ++i)
    frame.save(kOrder[i], static_cast<std::int16_t>(8 * i));
  return frame.save(kRip, 0x80)
      .save(kCs, 0x88)
      .save(kRflags, 0x90)
      .save(kRsp, 0x98)
      .save(kSs, 0xa0);
}

// Assembly that calls C with the stack pointer at a struct pt_regs (arch/x86/entry/entry_64.S and
// entry_64_compat.S). The asm_ functions are made by the idtentry macros, one per vector.
bool leaves_pt_regs(std::string_view name) {
  constexpr std::array<std::string_view, 8> kEntries = {
      "entry_SYSCALL_64",      "entry_SYSCALL_64_after_hwframe",
      "entry_SYSENTER_compat", "entry_SYSENTER_compat_after_hwframe",
      "entry_SYSCALL_compat",  "entry_SYSCALL_compat_after_hwframe",
      "entry_INT80_compat",    "common_interrupt_return"};
  return name.starts_with("asm_exc_") || name.starts_with("asm_sysvec_") ||
         name.starts_with("asm_common_interrupt") || name.starts_with("asm_spurious_interrupt") ||
         name.starts_with("asm_load_gs_index_") ||
         std::find(kEntries.begin(), kEntries.end(), name) != kEntries.end();
}

// Where the stack of a kernel thread, of a new process or of a CPU begins.
bool begins_a_stack(std::string_view name) {
  return name == "ret_from_fork" || name == "ret_from_fork_asm" ||
         name == "secondary_startup_64_no_verify" || name == "secondary_startup_64" ||
         name == "start_cpu0" || name == "startup_64" || name == "startup_xen" ||
         name == "rewind_stack_and_make_dead";
}

}  // namespace

bool LinuxAdapter::recognises(const elf::ElfFile& file) {
  return file.arch() == Arch::kX86_64 && file.symbol_named("linux_banner").has_value();
}

std::vector<unwind::EntryLayout> LinuxAdapter::entries() const {
  std::vector<unwind::EntryLayout> entries;
  const auto& symbols = kernel_->file->symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool ends = begins_a_stack(symbols[i].name);
    if (!ends && !leaves_pt_regs(symbols[i].name)) continue;
    // Labels without a size reach to the next symbol.
    std::uint64_t size = symbols[i].size;
    for (std::size_t next = i + 1; size == 0 && next < symbols.size(); ++next)
      size = symbols[next].address - symbols[i].address;
    const GuestVirt start = kernel_->to_guest(symbols[i].address);
    entries.push_back({start, start + size, ends, ends ? unwind::RegisterFrame{} : pt_regs()});
  }
  return entries;
}

Result<std::optional<GuestVirt>> LinuxAdapter::read_pointer(GuestVirt at,
                                                            const elf::GuestReader& read) const {
  std::array<std::byte, 8> bytes;
  RINGSIDE_ASSIGN(const std::size_t count, read(at, bytes));
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  if (count < sizeof(value) || value == 0) return std::nullopt;
  return GuestVirt{value};
}

// hardirq_stack_ptr is set when its CPU comes up, so that early on it may still be 0.
Result<bool> LinuxAdapter::prepare(std::size_t vcpus, const elf::GuestReader& read) {
  const auto pointer = kernel_->file->symbol_named("hardirq_stack_ptr");
  const auto offsets = kernel_->file->symbol_named("__per_cpu_offset");
  if (!pointer || !offsets || pointer->address.value > kPerCpuLimit) return true;
  irq_stack_tops_.resize(vcpus);
  bool all = true;
  for (std::size_t cpu = 0; cpu < vcpus; ++cpu) {
    if (irq_stack_tops_[cpu]) continue;
    const GuestVirt entry = kernel_->to_guest(offsets->address) + 8 * cpu;
    RINGSIDE_ASSIGN(const auto base, read_pointer(entry, read));
    // Before a CPU's area is set up its entry leads to the boot image's copy, which has no stack
    // yet.
    if (base) {
      RINGSIDE_ASSIGN(irq_stack_tops_[cpu], read_pointer(*base + pointer->address.value, read));
    }
    all = all && irq_stack_tops_[cpu].has_value();
  }
  return all;
}

std::vector<wire::RecipeOp> LinuxAdapter::recipe(VcpuId vcpu,
                                                 std::span<const GuestVirt> learnt) const {
  std::vector<StackTop> tops;
  if (vcpu.value < irq_stack_tops_.size() && irq_stack_tops_[vcpu.value])
    tops.push_back({*irq_stack_tops_[vcpu.value], true});
  for (const GuestVirt slot : learnt)
    if (tops.empty() || tops[0].slot != slot) tops.push_back({slot, false});
  return stack_recipe(arch_, tops, kIrqStackSize);
}

}  // namespace ringside::guestos
