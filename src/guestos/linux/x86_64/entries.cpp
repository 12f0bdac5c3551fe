#include "guestos/linux/x86_64/entries.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/little_endian.h"
#include "guestos/linux/x86_64/stub.h"

namespace ringside::guestos {
namespace {

using namespace arch::x86_64;
using unwind::TrapFrameLayout;
using Below = TrapFrameLayout::Below;

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

// The frame that hardware pushes; nothing else has been saved, or changed, yet.
TrapFrameLayout hardware_frame(std::int16_t from_sp) {
  TrapFrameLayout layout{.base_offset = from_sp, .keeps_registers = true};
  layout.frame.save(kRip, 0).save(kCs, 8).save(kRflags, 16).save(kRsp, 24).save(kSs, 32);
  return layout;
}

// Assembly that calls C with the stack pointer at a struct pt_regs (arch/x86/entry/entry_64.S). The
// asm_ functions are made by the idtentry macros, one per vector.
bool leaves_pt_regs(std::string_view name) {
  return name.starts_with("asm_exc_") || name.starts_with("asm_sysvec_") ||
         name.starts_with("asm_common_interrupt") || name.starts_with("asm_spurious_interrupt") ||
         name.starts_with("asm_load_gs_index_") || name == "common_interrupt_return" ||
         name == "asm_int80_emulation";
}

// Code that only user code enters (entry_64.S, entry_64_compat.S). ORC says that the stack ends
// where there is no struct pt_regs yet, or no more.
bool is_system_call(std::string_view name) {
  constexpr std::array<std::string_view, 8> kEntries = {
      "entry_SYSCALL_64",           "syscall_return_via_sysret",
      "entry_SYSRETQ_unsafe_stack", "entry_SYSENTER_compat",
      "entry_SYSCALL_compat",       "entry_INT80_compat",
      "sysret32_from_system_call",  "entry_SYSRETL_compat_unsafe_stack"};
  return std::find(kEntries.begin(), kEntries.end(), name) != kEntries.end();
}

// Where the stack of a kernel thread, of a new process or of a CPU begins.
bool begins_a_stack(std::string_view name) {
  return name == "ret_from_fork" || name == "ret_from_fork_asm" ||
         name == "secondary_startup_64_no_verify" || name == "secondary_startup_64" ||
         name == "start_cpu0" || name == "startup_64" || name == "startup_xen" ||
         name == "rewind_stack_and_make_dead";
}

// Retpolines (arch/x86/lib/retpoline.S) and the shorter thunks that took their place. Only the
// callee's start is in a register; the return address is the caller's.
bool is_indirect_thunk(std::string_view name) {
  return name.starts_with("__x86_indirect_thunk_") || name.starts_with("__x86_indirect_its_thunk_");
}

class Layouts {
 public:
  explicit Layouts(const elf::Image& kernel) : kernel_(kernel), symbols_(kernel.file->symbols()) {}

  [[nodiscard]] std::vector<TrapFrameLayout> run();

 private:
  // A symbol's code. Labels without a size reach to the next symbol.
  struct Code {
    ImageAddr start;
    std::uint64_t size = 0;
    Bytes bytes;
  };
  [[nodiscard]] Code code_of(std::size_t symbol) const;
  [[nodiscard]] std::optional<Code> code_named(std::string_view name) const;
  // Where the call at `offset` goes.
  [[nodiscard]] static std::optional<ImageAddr> call_target(const Code& code, std::size_t offset);

  [[nodiscard]] bool is_known(ImageAddr start) const;
  void add(const Code& code, std::uint64_t from, std::uint64_t to, TrapFrameLayout layout);
  void add_frame(const Code& code);
  [[nodiscard]] bool calls_saver(const Code& code, std::uint64_t offset) const;
  void add_hardware_frames(const Code& code, const std::vector<StubInstruction>& stub);
  void add_vector_stubs(const Code& code);
  void add_indirect_thunk(const Code& code);
  void add_register_saver(const Code& code);
  void add_exit_path_to_user();
  void add_return_stack_filling();

  const elf::Image& kernel_;
  const std::vector<elf::FunctionSymbol>& symbols_;
  std::array<std::optional<Code>, 2> savers_;  // functions that save registers for their caller
  std::vector<TrapFrameLayout> layouts_;
};

Layouts::Code Layouts::code_of(std::size_t symbol) const {
  Code code{symbols_[symbol].address, symbols_[symbol].size, {}};
  for (std::size_t next = symbol + 1; code.size == 0 && next < symbols_.size(); ++next)
    code.size = symbols_[next].address - code.start;
  constexpr std::uint64_t kMaxBytes = 4096;  // more than any assembly that is examined
  code.bytes = kernel_.file->bytes_at(code.start, std::min(code.size, kMaxBytes));
  return code;
}

std::optional<Layouts::Code> Layouts::code_named(std::string_view name) const {
  for (std::size_t i = 0; i < symbols_.size(); ++i)
    if (symbols_[i].name == name) return code_of(i);
  return std::nullopt;
}

std::optional<ImageAddr> Layouts::call_target(const Code& code, std::size_t offset) {
  constexpr std::byte kCall{0xe8};
  constexpr std::size_t kCallSize = 5;
  if (offset + kCallSize > code.bytes.size() || code.bytes[offset] != kCall) return std::nullopt;
  const auto relative = load<std::int32_t>(code.bytes, offset + 1);
  return code.start + offset + kCallSize + static_cast<std::uint64_t>(std::int64_t{relative});
}

void Layouts::add(const Code& code, std::uint64_t from, std::uint64_t to, TrapFrameLayout layout) {
  if (from >= to) return;
  layout.start = kernel_.to_guest(code.start) + from;
  layout.end = kernel_.to_guest(code.start) + to;
  layouts_.push_back(layout);
}

// Behind the call of error_entry, which has pushed struct pt_regs for its caller, ORC still has the
// stack of before the call, until the next instruction has run. Some stubs call paranoid_entry
// first, and branch to the other call.
void Layouts::add_frame(const Code& code) {
  std::uint64_t from = 0;
  while (from < code.size) {
    const std::vector<StubInstruction> stub = read_stub(code.bytes, from);
    if (stub.empty() || !calls_saver(code, stub.back().offset)) break;
    add_hardware_frames(code, stub);
    const std::uint64_t saved = stub.back().offset + stub.back().size;
    std::uint64_t next = saved;
    while (next < code.bytes.size() && !calls_saver(code, next)) ++next;
    if (next >= code.bytes.size()) next = code.size;
    add(code, saved, next, {.frame = pt_regs(), .overrides = true});
    from = next;
  }
  add(code, from, code.size, {.frame = pt_regs(), .calls_only = true});
}

bool Layouts::calls_saver(const Code& code, std::uint64_t offset) const {
  const auto target = call_target(code, offset);
  return std::any_of(savers_.begin(), savers_.end(),
                     [&](const auto& saver) { return saver && target && *target == saver->start; });
}

// At a stub's first instructions the frame lies where hardware has put it. Only tables know that;
// ORC comes first.
void Layouts::add_hardware_frames(const Code& code, const std::vector<StubInstruction>& stub) {
  std::size_t first = 0;
  for (std::size_t i = 1; i <= stub.size(); ++i) {
    if (i < stub.size() && stub[i].frame == stub[first].frame) continue;
    const StubInstruction& last = stub[i - 1];
    add(code, stub[first].offset, last.offset + last.size, hardware_frame(stub[first].frame));
    first = i;
  }
}

// One stub for each interrupt vector: a push of its number, and a jump (arch/x86/include/asm/
// idtentry.h).
void Layouts::add_vector_stubs(const Code& code) {
  for (std::uint64_t at = 0; at < code.bytes.size();) {
    const std::vector<StubInstruction> stub = read_stub(code.bytes, at);
    if (!stub.empty()) add_hardware_frames(code, stub);
    // int3 or nops fill up.
    at = stub.empty() ? at + 1 : stub.back().offset + stub.back().size;
  }
}

// A retpoline begins with a call of its own middle, which puts the callee's address in place of the
// return address that the call pushed. The kernel may have put "jmp *%reg" at the start instead.
void Layouts::add_indirect_thunk(const Code& code) {
  TrapFrameLayout layout{.below = Below::kCaller, .base_offset = 8, .overrides = true};
  const auto middle = call_target(code, 0);
  const std::uint64_t offset = middle ? *middle - code.start : code.size;
  if (offset > code.size) return;
  add(code, 0, offset, layout);
  layout.base_offset = 16;
  add(code, offset, code.size, layout);
}

// PUSH_AND_CLEAR_REGS save_ret=1 (arch/x86/entry/calling.h): struct pt_regs grows below the return
// address, whose slot becomes that of rdi; it is in rsi then, and pushed again at last. ORC leaves
// the caller out. The caller's stack pointer is that of after the return.
void Layouts::add_register_saver(const Code& code) {
  constexpr std::array kLoadReturn{std::byte{0x48}, std::byte{0x8b}, std::byte{0x74},
                                   std::byte{0x24}, std::byte{0x08}};  // mov 8(%rsp), %rsi
  constexpr std::array kStoreRdi{std::byte{0x48}, std::byte{0x89}, std::byte{0x7c}, std::byte{0x24},
                                 std::byte{0x08}};  // mov %rdi, 8(%rsp)
  constexpr std::int16_t kRdiInFrame = 14 * 8;
  const Bytes& bytes = code.bytes;
  TrapFrameLayout layout{.below = Below::kCaller, .base_offset = -kRdiInFrame, .overrides = true};
  layout.frame.save(kRip, kRdiInFrame);
  const auto is_at = [&](std::size_t at, Bytes what) {
    return bytes.size() - at >= what.size() &&
           std::equal(what.begin(), what.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  };
  std::size_t at = 0;
  for (std::size_t size = 0; at < bytes.size(); at += size) {
    const bool wide = bytes[at] == std::byte{0x41};
    const bool is_push =
        at + wide < bytes.size() && (bytes[at + wide] & std::byte{0xf8}) == std::byte{0x50};
    size = is_push ? 1u + wide : kLoadReturn.size();
    if (!is_push && !is_at(at, kLoadReturn) && !is_at(at, kStoreRdi)) break;
    add(code, at, at + size, layout);
    if (is_push) layout.base_offset = static_cast<std::int16_t>(layout.base_offset + 8);
    if (is_at(at, kStoreRdi)) {
      layout.frame = {};
      layout.return_in = kRsi;
    }
  }
  // The return address has been pushed again.
  add(code, at, code.size, {.below = Below::kCaller, .base_offset = 8, .overrides = true});
}

// Restores the user's registers, on the entry stack at last, where only rdi knows of the frame.
void Layouts::add_exit_path_to_user() {
  const auto user = code_named("swapgs_restore_regs_and_return_to_usermode");
  const auto kernel = code_named("restore_regs_and_return_to_kernel");
  if (!user || !kernel || kernel->start - user->start > 0x1000) return;
  add(*user, 0, kernel->start - user->start, {.below = Below::kUser, .overrides = true});
}

// __switch_to_asm fills the return stack while the frame of a task that does not run (struct
// inactive_task_frame: six registers and the return address) is on top: calls of its own next
// instructions, whose return addresses are dropped two at a time, or all at the end. In the file
// there is a jump over it, which the kernel replaces by one of two ways that it may be done.
void Layouts::add_return_stack_filling() {
  const auto code = code_named("__switch_to_asm");
  if (!code) return;
  const auto& bytes = code->bytes;
  constexpr std::byte kShortJump{0xeb};
  for (std::size_t i = 0; i + 2 < bytes.size(); ++i) {
    if (bytes[i] != kShortJump) continue;
    const std::size_t target = i + 2 + std::to_integer<std::size_t>(bytes[i + 1]);
    const bool pops_r15 = target + 2 <= bytes.size() && bytes[target] == std::byte{0x41} &&
                          bytes[target + 1] == std::byte{0x5f};
    if (!pops_r15) continue;
    TrapFrameLayout layout{
        .below = Below::kCaller, .base_offset = 7 * 8, .overrides = true, .skips_own_words = true};
    layout.frame.save(kR15, -56).save(kR14, -48).save(kR13, -40).save(kR12, -32);
    layout.frame.save(kRbx, -24).save(kRbp, -16);
    return add(*code, i, target, layout);
  }
}

bool Layouts::is_known(ImageAddr start) const {
  return std::any_of(layouts_.begin(), layouts_.end(), [&](const TrapFrameLayout& layout) {
    return kernel_.to_guest(start) - layout.start < layout.end - layout.start;
  });
}

std::vector<TrapFrameLayout> Layouts::run() {
  savers_ = {code_named("error_entry"), code_named("paranoid_entry")};
  for (const auto& saver : savers_)
    if (saver) add_register_saver(*saver);
  add_exit_path_to_user();
  add_return_stack_filling();
  for (const char* stubs : {"irq_entries_start", "spurious_entries_start"})
    if (const auto code = code_named(stubs)) add_vector_stubs(*code);
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    const std::string_view name = symbols_[i].name;
    if (begins_a_stack(name)) {
      const Code code = code_of(i);
      add(code, 0, code.size, {.below = Below::kNothing});
    } else if (is_system_call(name)) {
      const Code code = code_of(i);
      add(code, 0, code.size, {.below = Below::kUser, .overrides = true});
    } else if (leaves_pt_regs(name) && !is_known(symbols_[i].address)) {
      add_frame(code_of(i));
    } else if (is_indirect_thunk(name)) {
      add_indirect_thunk(code_of(i));
    }
  }
  return std::move(layouts_);
}

}  // namespace

std::vector<TrapFrameLayout> x86_64_entries(const elf::Image& kernel) {
  return Layouts(kernel).run();
}

}  // namespace ringside::guestos
