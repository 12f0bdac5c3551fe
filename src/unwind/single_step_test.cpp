// The strongest check of the unwinder: real programs run one instruction at a time under ptrace.
// The test keeps the true stack by watching calls and returns, injects interrupts as hardware would
// at random instructions (an interrupt frame on the stack, rip at the entry stub), and at every
// single instruction compares every frame with what the unwinder makes of the registers and the
// stack.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>

#include "unwind/unwinder.h"
#include "unwind/user/user_unwinder.h"

namespace ringside::unwind {
namespace {

constexpr std::uint64_t kKernelCs = 0x10;
constexpr std::uint64_t kKernelSs = 0x18;
constexpr std::size_t kMaxSteps = 400'000;

struct TrueFrame {
  std::uint64_t address = 0;
  std::uint64_t interrupt_frame = 0;  // 0: a return address
};

class Tracee {
 public:
  explicit Tracee(const std::string& program) {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::execl(program.c_str(), program.c_str(), nullptr);
      ::_exit(127);
    }
    wait();
  }
  ~Tracee() {
    if (!alive_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Tracee(const Tracee&) = delete;
  Tracee& operator=(const Tracee&) = delete;

  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] int exit_status() const { return status_; }
  void step() {
    ::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr);
    wait();
  }
  [[nodiscard]] user_regs_struct registers() const {
    user_regs_struct regs{};
    ::ptrace(PTRACE_GETREGS, pid_, nullptr, &regs);
    return regs;
  }
  void set_registers(user_regs_struct regs) const {
    ::ptrace(PTRACE_SETREGS, pid_, nullptr, &regs);
  }
  std::size_t read(std::uint64_t address, std::span<std::byte> into) const {
    iovec local{into.data(), into.size()};
    iovec remote{reinterpret_cast<void*>(address), into.size()};
    const ssize_t count = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  // Reads a word of `size` bytes.
  [[nodiscard]] std::uint64_t word(std::uint64_t address, std::size_t size) const {
    std::uint64_t value = 0;
    read(address, std::as_writable_bytes(std::span(&value, 1)).first(size));
    return value;
  }
  void poke(std::uint64_t address, std::uint64_t value, std::size_t size) const {
    iovec local{&value, size};
    iovec remote{reinterpret_cast<void*>(address), size};
    ::process_vm_writev(pid_, &local, 1, &remote, 1, 0);
  }

 private:
  void wait() {
    alive_ =
        ::waitpid(pid_, &status_, 0) == pid_ && WIFSTOPPED(status_) && WSTOPSIG(status_) == SIGTRAP;
  }
  pid_t pid_ = -1;
  int status_ = 0;
  bool alive_ = false;
};

enum class Flow { kOther, kCall, kReturn, kInterruptReturn };

// Not the unwinder's decoder: a second way.
Flow flow_of(Bytes code, bool is_64_bit) {
  std::size_t i = 0;
  const auto at = [&](std::size_t n) {
    return n < code.size() ? std::to_integer<unsigned>(code[n]) : 0;
  };
  const bool wide = is_64_bit && at(i) == 0x48;
  if (wide == is_64_bit && at(wide ? i + 1 : i) == 0xcf) return Flow::kInterruptReturn;
  const auto is_prefix = [&](unsigned byte) {
    return byte == 0x3e || byte == 0xf2 || byte == 0xf3 || (is_64_bit && (byte & 0xf0) == 0x40);
  };
  while (is_prefix(at(i))) ++i;
  if (at(i) == 0xe8 || (at(i) == 0xff && (at(i + 1) >> 3 & 7) == 2)) return Flow::kCall;
  if (at(i) == 0xc3 || at(i) == 0xc2) return Flow::kReturn;
  return Flow::kOther;
}

class SingleStep : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string path = fmt::format("{}/{}", RINGSIDE_STEP_PROGRAMS, GetParam());
    const auto file = elf::ElfFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    file_ = *file;
    is_64_bit_ = file_->is_64();
    word_ = is_64_bit_ ? 8 : 4;
    images_.add({.id = 1, .name = "program", .file = file_, .load_bias = 0});
    entry_ = symbol("interrupt_entry");
    slot_ = symbol("interrupt_stack_slot");
    thunks_ = symbol("thunk_array");
    thunks_end_ = symbol("thunk_end");
    tracee_ = std::make_unique<Tracee>(path);
  }
  // The program without its symbols and its call-frame information.
  [[nodiscard]] static std::shared_ptr<const elf::ElfFile> stripped() {
    auto file =
        elf::ElfFile::open(fmt::format("{}/{}.stripped", RINGSIDE_STEP_PROGRAMS, GetParam()));
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : nullptr;
  }
  [[nodiscard]] std::uint64_t symbol(const char* name) const {
    const auto found = file_->symbol_named(name);
    return found ? found->address.value : 0;
  }
  void add_piece(wire::Capture& capture, std::uint64_t from, std::uint64_t size,
                 wire::PieceKind why) const {
    const std::size_t offset = capture.bytes.size();
    capture.bytes.resize(offset + size);
    const std::size_t count = tracee_->read(from, std::span(capture.bytes).subspan(offset));
    capture.bytes.resize(offset + count);
    capture.pieces.push_back({{from},
                              why,
                              static_cast<std::uint32_t>(size),
                              static_cast<std::uint32_t>(offset),
                              static_cast<std::uint32_t>(count)});
    // In ring 3 the frames say so; the unwinder is to see a kernel's.
    for (const TrueFrame& frame : truth_) {
      const std::uint64_t at = frame.interrupt_frame - from;
      if (frame.interrupt_frame < from || at + frame_words() * word_ > count) continue;
      std::memcpy(capture.bytes.data() + offset + at + word_, &kKernelCs, word_);
      if (is_64_bit_) std::memcpy(capture.bytes.data() + offset + at + 32, &kKernelSs, 8);
    }
  }
  // Words that hardware pushes: without a change of privilege i386 leaves esp and ss out.
  [[nodiscard]] std::size_t frame_words() const { return is_64_bit_ ? 5 : 3; }
  [[nodiscard]] arch::Registers registers(const user_regs_struct& regs) const {
    arch::Registers result;
    if (is_64_bit_) {
      const std::uint64_t values[] = {regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi,
                                      regs.rbp, regs.rsp, regs.r8,  regs.r9,  regs.r10, regs.r11,
                                      regs.r12, regs.r13, regs.r14, regs.r15, regs.rip};
      for (std::size_t i = 0; i < std::size(values); ++i) result.set(i, values[i]);
      result.set(arch::x86_64::kCs, kKernelCs);
    } else {
      const std::uint64_t values[] = {regs.rax, regs.rcx, regs.rdx, regs.rbx, regs.rsp,
                                      regs.rbp, regs.rsi, regs.rdi, regs.rip};
      for (std::size_t i = 0; i < std::size(values); ++i) result.set(i, values[i]);
      result.set(arch::i386::kCs, kKernelCs);
    }
    return result;
  }
  [[nodiscard]] wire::Capture capture(const user_regs_struct& regs) const {
    wire::Capture result;
    result.arch = file_->arch();
    result.level = PrivilegeLevel::kKernel;
    result.registers = registers(regs);
    const bool on_interrupt_stack = regs.rsp <= slot_ && slot_ - regs.rsp < 32768;
    if (on_interrupt_stack) {
      add_piece(result, regs.rsp, slot_ + word_ - regs.rsp, wire::PieceKind::kCurrentStack);
      const std::uint64_t left = tracee_->word(slot_, word_);
      add_piece(result, left, main_top_ - left, wire::PieceKind::kInterruptedStack);
    } else {
      add_piece(result, regs.rsp, main_top_ - regs.rsp, wire::PieceKind::kCurrentStack);
      // The stub is between its two stacks, or coming back.
      add_piece(result, slot_, word_, wire::PieceKind::kStackLink);
    }
    return result;
  }
  // Runs one instruction, and keeps the true stack.
  void step(const user_regs_struct& regs) {
    // A retpoline's call and return are a jump.
    const bool in_thunk = regs.rip - thunks_ < thunks_end_ - thunks_;
    const Flow flow = in_thunk ? Flow::kOther : flow_of(file_->bytes_at({regs.rip}, 8), is_64_bit_);
    tracee_->step();
    if (!tracee_->alive()) return;
    if (flow == Flow::kCall) truth_.push_back({tracee_->word(tracee_->registers().rsp, word_), 0});
    if (flow == Flow::kReturn || flow == Flow::kInterruptReturn) truth_.pop_back();
  }
  void inject_interrupt(user_regs_struct regs) {
    const std::uint64_t top = is_64_bit_ ? regs.rsp & ~std::uint64_t{15} : regs.rsp;
    const std::uint64_t frame = top - frame_words() * word_;
    const std::uint64_t words[] = {regs.rip, regs.cs, regs.eflags & ~std::uint64_t{0x100}, regs.rsp,
                                   regs.ss};
    for (std::size_t i = 0; i < frame_words(); ++i)
      tracee_->poke(frame + i * word_, words[i], word_);
    truth_.push_back({regs.rip, frame});
    regs.rsp = frame;
    regs.rip = entry_;
    tracee_->set_registers(regs);
  }
  [[nodiscard]] std::size_t interrupts() const {
    return static_cast<std::size_t>(
        std::count_if(truth_.begin(), truth_.end(),
                      [](const TrueFrame& frame) { return frame.interrupt_frame != 0; }));
  }
  void compare(const user_regs_struct& regs, const Stack& stack);
  // Whether all frames are true; some may be missing.
  [[nodiscard]] bool is_beginning(const Stack& stack) const;
  [[nodiscard]] std::string wanted(const user_regs_struct& regs) const;

  std::shared_ptr<const elf::ElfFile> file_;
  elf::ImageMap images_;
  std::unique_ptr<Tracee> tracee_;
  bool is_64_bit_ = true;
  std::size_t word_ = 8;
  std::uint64_t entry_ = 0;
  std::uint64_t slot_ = 0;
  std::uint64_t thunks_ = 0;
  std::uint64_t thunks_end_ = 0;
  std::uint64_t main_top_ = 0;
  std::vector<TrueFrame> truth_;
};

std::string text_of(const Stack& stack) {
  std::string text;
  for (const Frame& frame : stack.frames)
    text += fmt::format(" {}{}({})", frame.address, frame.exact ? "!" : "",
                        static_cast<int>(frame.source));
  return text + " " + name_of(stack.stop) + fmt::format(" {}", stack.stopped_at);
}

bool SingleStep::is_beginning(const Stack& stack) const {
  if (stack.frames.size() > truth_.size() + 1) return false;
  for (std::size_t i = 1; i < stack.frames.size(); ++i) {
    const TrueFrame& frame = truth_[truth_.size() - i];
    if (stack.frames[i].address.value != frame.address ||
        stack.frames[i].exact != (frame.interrupt_frame != 0))
      return false;
  }
  return true;
}

std::string SingleStep::wanted(const user_regs_struct& regs) const {
  std::string text = fmt::format("wanted {:#x}!", regs.rip);
  for (auto frame = truth_.rbegin(); frame != truth_.rend(); ++frame)
    text += fmt::format(" {:#x}{}", frame->address, frame->interrupt_frame != 0 ? "!" : "");
  return text + "\n   got";
}

void SingleStep::compare(const user_regs_struct& regs, const Stack& stack) {
  bool equal = is_beginning(stack) && stack.frames.size() == truth_.size() + 1 &&
               std::none_of(stack.frames.begin(), stack.frames.end(),
                            [](const Frame& frame) { return frame.source == FrameSource::kGuess; });
  // In _start itself there is no caller, and only call-frame information can say so.
  if (!truth_.empty()) equal = equal && (is_complete(stack.stop) || truth_.front().interrupt_frame);
  EXPECT_TRUE(equal) << wanted(regs) << text_of(stack);
}

TEST_P(SingleStep, EveryFrameAtEveryInstruction) {
  if (!tracee_->alive()) GTEST_SKIP() << "ptrace is not allowed here";
  main_top_ = tracee_->registers().rsp + 64;
  Unwinder unwinder(images_);
  Unwinder full(images_, {.full_only = true});
  // A kernel of which there is no file: its code alone, without symbols and tables.
  elf::ImageMap nameless_images;
  nameless_images.add({.id = 1, .name = "kernel", .file = stripped(), .from_guest = true});
  Unwinder nameless(nameless_images);
  Unwinder nameless_full(nameless_images, {.full_only = true});
  std::mt19937 random(7);
  std::size_t steps = 0;
  std::size_t deepest_nesting = 0;
  for (; tracee_->alive() && steps < kMaxSteps; ++steps) {
    user_regs_struct regs = tracee_->registers();
    const wire::Capture state = capture(regs);
    const Stack stack = unwinder.unwind(state);
    compare(regs, stack);
    // The walk by compact rules and the one with all registers are two ways to one answer.
    const Stack slow = full.unwind(state);
    EXPECT_EQ(stack.frames, slow.frames) << text_of(stack) << "\n" << text_of(slow);
    EXPECT_EQ(stack.stop, slow.stop);
    const Stack by_code = nameless.unwind(state);
    EXPECT_TRUE(is_beginning(by_code) && by_code.frames.size() == truth_.size() + 1)
        << "without symbols: " << wanted(regs) << text_of(by_code);
    EXPECT_EQ(by_code.frames, nameless_full.unwind(state).frames) << text_of(by_code);
    if (::testing::Test::HasFailure()) return;
    // A handler runs some 200 instructions: rare enough for the program to get on.
    if (random() % 400 == 0 && interrupts() < 3) {
      inject_interrupt(regs);
      deepest_nesting = std::max(deepest_nesting, interrupts());
      continue;
    }
    step(regs);
  }
  EXPECT_TRUE(WIFEXITED(tracee_->exit_status())) << "status " << tracee_->exit_status();
  EXPECT_GT(steps, 1000u);
  EXPECT_EQ(deepest_nesting, 3u);
  RecordProperty("steps", static_cast<int>(steps));
  const Statistics& statistics = unwinder.statistics();
  fmt::print(
      "{} instructions, {} frames, {:.1f} % by the slow walk\n", steps, statistics.frames,
      100.0 * static_cast<double>(statistics.slow_frames) / static_cast<double>(statistics.frames));
}

// As user code: no frame is ever wrong, and hardly any is missing.
TEST_P(SingleStep, EveryFrameOfUserCode) {
  if (!tracee_->alive()) GTEST_SKIP() << "ptrace is not allowed here";
  main_top_ = tracee_->registers().rsp + 64;
  constexpr std::uint32_t kImage = 7;
  std::vector<UserCode::Range> ranges;
  for (const elf::Segment& segment : file_->segments())
    if (segment.executable)
      ranges.push_back({{segment.address.value},
                        {segment.address.value + segment.memory_size},
                        0,
                        kImage,
                        file_});
  const UserCode code(ranges);
  UserUnwinder unwinder;
  std::size_t steps = 0;
  std::size_t complete = 0;
  for (; tracee_->alive() && steps < kMaxSteps; ++steps) {
    const user_regs_struct regs = tracee_->registers();
    const Stack stack = unwinder.unwind(file_->arch(), registers(regs), capture(regs), code);
    ASSERT_LE(stack.frames.size(), truth_.size() + 1) << text_of(stack);
    for (std::size_t i = 1; i < stack.frames.size(); ++i) {
      ASSERT_EQ(stack.frames[i].address.value, truth_[truth_.size() - i].address) << text_of(stack);
      ASSERT_EQ(stack.frames[i].image, kImage);
    }
    if (stack.frames.size() == truth_.size() + 1 && is_complete(stack.stop)) ++complete;
    step(regs);
  }
  fmt::print("{} instructions, {} with the whole stack\n", steps, complete);
  EXPECT_GT(complete, steps * 99 / 100);
}

INSTANTIATE_TEST_SUITE_P(Programs, SingleStep, ::testing::Values(RINGSIDE_STEP_PROGRAM_NAMES),
                         [](const auto& program) { return std::string(program.param); });

}  // namespace
}  // namespace ringside::unwind
