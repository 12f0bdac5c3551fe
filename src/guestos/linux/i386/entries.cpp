#include "guestos/linux/i386/entries.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/little_endian.h"
#include "elf/symbol_extent.h"
#include "guestos/linux/entry/named_entries.h"

namespace ringside::guestos {
namespace {

using namespace arch::i386;

// struct pt_regs, arch/x86/include/asm/ptrace.h; `ptype /o struct pt_regs` of a vmlinux with DWARF.
constexpr unwind::RegisterFrame pt_regs() {
  unwind::RegisterFrame frame;
  constexpr std::array<std::uint8_t, 7> kOrder = {kEbx, kEcx, kEdx, kEsi, kEdi, kEbp, kEax};
  for (std::size_t i = 0; i < kOrder.size(); ++i)
    frame.save(kOrder[i], static_cast<std::int16_t>(4 * i));
  return frame.save(kEip, 48).save(kCs, 52).save(kEflags, 56).save(kEsp, 60).save(kSs, 64);
}

// Entry code that calls C code. asm_exc_nmi is missing: it may move to another stack first.
bool leaves_pt_regs(std::string_view name) {
  constexpr std::array<std::string_view, 7> kEntries = {
      "asm_common_interrupt", "asm_spurious_interrupt", "common_interrupt_return", "entry_INT80_32",
      "entry_SYSENTER_32",    "handle_exception",       "handle_exception_return",
  };
  return std::find(kEntries.begin(), kEntries.end(), name) != kEntries.end();
}

// Where the stack of a kernel thread, of a new process or of a CPU begins.
bool begins_a_stack(std::string_view name) {
  return name == "ret_from_fork" || name == "startup_32" || name == "startup_32_smp" ||
         name == "start_cpu0" || name == "rewind_stack_and_make_dead";
}

// A symbol's code.
struct Code {
  ImageAddr start;
  Bytes bytes;
};

std::optional<Code> code_named(const elf::Image& kernel, std::string_view name) {
  const auto& symbols = kernel.file->symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].name != name) continue;
    constexpr std::uint64_t kMaxBytes = 4096;  // more than any assembly that is examined
    return Code{
        symbols[i].address,
        kernel.file->bytes_at(symbols[i].address, std::min(elf::extent_of(symbols, i), kMaxBytes))};
  }
  return std::nullopt;
}

// __switch_to_asm (entry_32.S) goes to the stack of a task that does not run, on top of which are
// the flags, four registers and the return address (struct inactive_task_frame, asm/switch_to.h).
// Then it fills the processor's return stack with calls of its own next instructions, whose return
// addresses are dropped all at the end: in the file there is a jump over room for them, which the
// kernel replaces. At last it pops the registers.
void add_switch_to(const elf::Image& kernel, std::vector<unwind::TrapFrameLayout>& entries) {
  const auto code = code_named(kernel, "__switch_to_asm");
  if (!code) return;
  constexpr std::array kLoadStack{std::byte{0x8b}, std::byte{0xa2}};  // mov disp32(%edx), %esp
  constexpr std::size_t kLoadStackSize = 6;
  constexpr std::array kPops{std::byte{0x9d}, std::byte{0x5e}, std::byte{0x5f}, std::byte{0x5b},
                             std::byte{0x5d}};  // popf; pop %esi; pop %edi; pop %ebx; pop %ebp
  const Bytes& bytes = code->bytes;
  const auto load = std::search(bytes.begin(), bytes.end(), kLoadStack.begin(), kLoadStack.end());
  const auto pops = std::search(load, bytes.end(), kPops.begin(), kPops.end());
  const auto first = static_cast<std::size_t>(load - bytes.begin()) + kLoadStackSize;
  auto at = static_cast<std::size_t>(pops - bytes.begin());
  if (pops == bytes.end() || at < first) return;

  const GuestVirt start = kernel.to_guest(code->start);
  unwind::TrapFrameLayout layout{.start = start + first,
                                 .end = start + at + 1,
                                 .below = unwind::TrapFrameLayout::Below::kCaller,
                                 .base_offset = 6 * 4,
                                 .overrides = true,
                                 .skips_own_words = true};
  layout.frame.save(kEsi, -20).save(kEdi, -16).save(kEbx, -12).save(kEbp, -8);
  entries.push_back(layout);
  layout.skips_own_words = false;
  constexpr std::array<std::uint8_t, 5> kPopped = {kEflags, kEsi, kEdi, kEbx, kEbp};
  for (const std::uint8_t reg : kPopped) {
    layout.frame.offsets[reg] = unwind::RegisterFrame::kNotSaved;
    layout.base_offset = static_cast<std::int16_t>(layout.base_offset - 4);
    layout.start = start + ++at;
    layout.end = layout.start + 1;
    entries.push_back(layout);
  }
}

// ret_from_fork calls syscall_exit_to_user_mode with struct pt_regs at the stack pointer, to go to
// user mode for the first time: there the stack does not begin.
void split_way_to_user(const elf::Image& kernel, const unwind::TrapFrameLayout& frame,
                       std::vector<unwind::TrapFrameLayout>& entries) {
  const auto code = code_named(kernel, "ret_from_fork");
  const auto leaves = code_named(kernel, "syscall_exit_to_user_mode");
  if (!code || !leaves) return;
  constexpr std::byte kCall{0xe8};
  constexpr std::size_t kCallSize = 5;
  const GuestVirt start = kernel.to_guest(code->start);
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [start](const auto& layout) { return layout.start == start; });
  for (std::size_t i = 0; entry != entries.end() && i + kCallSize < code->bytes.size(); ++i) {
    const auto distance = load<std::uint32_t>(code->bytes, i + 1);
    const std::uint64_t next = code->start.value + i + kCallSize;
    if (code->bytes[i] != kCall || std::uint32_t(next + distance) != leaves->start.value) continue;
    unwind::TrapFrameLayout to_user = frame;
    unwind::TrapFrameLayout behind = *entry;
    to_user.start = entry->end = start + i + kCallSize;
    to_user.end = behind.start = to_user.start + 1;
    entries.insert(entries.end(), {to_user, behind});
    return;
  }
}

}  // namespace

std::vector<unwind::TrapFrameLayout> i386_entries(const elf::Image& kernel) {
  unwind::TrapFrameLayout layout;
  layout.frame = pt_regs();
  layout.calls_only = true;
  auto entries = named_entries(kernel, layout, leaves_pt_regs, begins_a_stack);
  split_way_to_user(kernel, layout, entries);
  add_switch_to(kernel, entries);
  return entries;
}

void copy_frame_in_transit(wire::RecipeBuilder& recipe) {
  constexpr std::uint64_t kFrameSize = 68;  // struct pt_regs
  constexpr auto kPiece = wire::PieceKind::kInterruptedStack;
  const auto stack = recipe.slot();
  const auto to = recipe.slot();
  const auto from = recipe.slot();
  const auto moved = recipe.slot();
  const auto end = recipe.recipe_end();
  const auto exit_path = recipe.label();
  recipe.read_register(stack, kEsp, end);
  recipe.read_register(to, kEdi, end);
  recipe.read_register(from, kEsi, end);
  recipe.subtract(to, to, stack);
  recipe.go_if_not_less(to, kFrameSize, exit_path);
  recipe.copy({from}, kFrameSize, kPiece);
  recipe.bind(exit_path);
  // SWITCH_TO_ENTRY_STACK copies from the stack pointer (esi) to where ebx stays (edi): both have
  // come equally far.
  recipe.subtract(moved, from, stack);
  recipe.go_if_not_less(moved, kFrameSize + 1, end);
  recipe.read_register(to, kEdi, end);
  recipe.read_register(from, kEbx, end);
  recipe.subtract(to, to, from);
  recipe.go_if_not_equal(to, moved, end);
  recipe.copy({from}, kFrameSize, kPiece);
}

}  // namespace ringside::guestos
