// Following code to its return against the compiler's call-frame information: at each instruction
// of real functions both must lead from the same state to the same caller.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include "arch/arch_info.h"
#include "unwind/aarch64/decoder.h"
#include "unwind/cfi/table.h"
#include "unwind/code_stepper.h"
#include "unwind/link_programs.h"
#include "unwind/link_register/code_stepper.h"
#include "unwind/riscv64/decoder.h"

namespace ringside::unwind::link_register {
namespace {

constexpr std::uint64_t kStack = 0xffff888000010000;
constexpr std::uint64_t kStackBytes = 32 * 1024;

// The word at a place of the stack, and the caller's value of a register: numbers that are nowhere
// else, and that no pointer authentication code can be taken for.
std::uint64_t word_at(std::uint64_t address) { return 0x2a0000000000 + address % 0x100000 * 16; }
std::uint64_t value_of(std::uint8_t reg) { return 0x3c0000000000 + reg * 0x10000u; }

// Which instructions the call-frame information is right at: all of GCC's; of clang 14's those
// between prologue and epilogue.
enum class Precision { kEverywhere, kInBodies };

struct Counts {
  std::size_t agree = 0;
  std::size_t no_exit_path = 0;
  std::vector<std::string> differences;
};

class Agreement {
 public:
  explicit Agreement(std::shared_ptr<const elf::ElfFile> file)
      : platform_(*arch::find_info(file->arch())),
        file_(std::move(file)),
        cfi_(file_, platform_),
        code_(make_code_stepper(platform_.id, images_)) {
    if (platform_.id == Arch::kAArch64)
      decoder_ = std::make_unique<aarch64::Decoder>();
    else
      decoder_ = std::make_unique<riscv64::Decoder>();
    image_ = &images_.add({.id = 1, .name = "code", .file = file_, .load_bias = 0});
    std::vector<std::uint64_t> words(kStackBytes / 8);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = word_at(kStack + 8 * i);
    const auto bytes = std::as_bytes(std::span(words));
    capture_.bytes.assign(bytes.begin(), bytes.end());
    capture_.arch = platform_.id;
    capture_.pieces.push_back(
        {{kStack}, wire::PieceKind::kCurrentStack, kStackBytes, 0, kStackBytes});
  }

  // `step`: of so many functions one.
  [[nodiscard]] Counts run(std::size_t step, Precision precision);

 private:
  // The frame of a function as a whole, by the call-frame information.
  struct Frame {
    std::int64_t bytes = 0;  // that the stack pointer is below the CFA in the body
    std::map<std::uint8_t, std::int64_t> saved = {};  // registers' slots, from the CFA on
    bool realigned = false;  // the stack pointer is not at a known distance
  };
  [[nodiscard]] Frame frame_of(const elf::FunctionSymbol& symbol) const;
  void function(const elf::FunctionSymbol& symbol, Precision precision);
  void instruction(ImageAddr pc, const Rule& rule, const Frame& frame);
  // Bytes that an instruction of a prologue takes from the stack.
  [[nodiscard]] std::int64_t room_made(const Instruction& code) const {
    const std::uint8_t sp = platform_.roles.sp;
    if (code.operation == Operation::kAdd && code.a == sp && code.b == sp)
      return std::max<std::int64_t>(-code.value, 0);
    return code.operation == Operation::kStore && code.b == sp
               ? std::max<std::int64_t>(-code.step, 0)
               : 0;
  }
  void write(std::uint64_t address, std::uint64_t value) {
    if (address - kStack <= kStackBytes - 8)
      std::memcpy(capture_.bytes.data() + (address - kStack), &value, sizeof(value));
  }
  [[nodiscard]] std::optional<Rule> rule_at(ImageAddr pc) const {
    auto found = cfi_.find(pc);
    if (!found) return std::nullopt;
    return found->rule;
  }
  void compare(ImageAddr pc, const Rule& rule, const MachineState& state);
  [[nodiscard]] std::string difference(const MachineState& a, const MachineState& b) const;

  const arch::ArchInfo& platform_;
  std::shared_ptr<const elf::ElfFile> file_;
  elf::ImageMap images_;
  const elf::Image* image_ = nullptr;
  cfi::Table cfi_;
  std::unique_ptr<unwind::CodeStepper> code_;
  std::unique_ptr<Decoder> decoder_;
  wire::Capture capture_;
  Counts counts_;
};

Counts Agreement::run(std::size_t step, Precision precision) {
  std::size_t number = 0;
  for (const elf::FunctionSymbol& symbol : file_->symbols())
    if (symbol.is_function && symbol.size != 0 && number++ % step == 0) function(symbol, precision);
  return counts_;
}

Agreement::Frame Agreement::frame_of(const elf::FunctionSymbol& symbol) const {
  Frame frame;
  const std::uint8_t sp = platform_.roles.sp;
  const Bytes bytes = file_->bytes_at(symbol.address, symbol.size);
  for (std::size_t at = 0; at < bytes.size();) {
    const Instruction code = decoder_->decode(bytes.subspan(at), symbol.address + at);
    if (code.operation == Operation::kOther && (code.writes >> sp & 1u) != 0)
      frame.realigned = true;
    if (code.operation >= Operation::kRet) break;
    frame.bytes += room_made(code);
    at += code.size;
  }
  for (std::uint64_t at = 0; at + 2 <= symbol.size; at += 2) {
    const auto rule = rule_at(symbol.address + at);
    if (!rule) continue;
    if (rule->cfa.reg == sp) frame.bytes = std::max(frame.bytes, rule->cfa.offset);
    for (std::uint8_t reg = 0; reg < 32; ++reg)
      if (rule->registers[reg].kind == RegisterRule::Kind::kOffset)
        frame.saved[reg] = rule->registers[reg].offset;
  }
  return frame;
}

void Agreement::function(const elf::FunctionSymbol& symbol, Precision precision) {
  const Bytes bytes = file_->bytes_at(symbol.address, symbol.size);
  const Frame frame = frame_of(symbol);
  if (frame.realigned) return;
  bool in_epilogue = false;
  std::int64_t made = 0;  // of the frame, so far
  for (std::size_t at = 0; at < bytes.size();) {
    const ImageAddr pc = symbol.address + at;
    const Instruction instruction = decoder_->decode(bytes.subspan(at), pc);
    at += instruction.size;
    const bool takes_back = instruction.operation == Operation::kAdd &&
                            instruction.a == platform_.roles.sp &&
                            (instruction.b != instruction.a || instruction.value > 0);
    const bool pops = instruction.operation == Operation::kLoad &&
                      instruction.b == platform_.roles.sp &&
                      (instruction.a == platform_.roles.link ||
                       instruction.c == platform_.roles.link || instruction.step > 0);
    const auto rule = rule_at(pc);
    const bool in_body = rule && !in_epilogue && made >= frame.bytes &&
                         (rule->cfa.reg == platform_.roles.fp || rule->cfa.offset == frame.bytes);
    if (rule && (precision == Precision::kEverywhere || in_body))
      this->instruction(pc, *rule, frame);
    made += room_made(instruction);
    const bool is_flow = instruction.operation >= Operation::kRet;
    in_epilogue = !is_flow && (in_epilogue || takes_back || pops);
  }
}

void Agreement::instruction(ImageAddr pc, const Rule& rule, const Frame& frame) {
  const arch::RegisterRoles& roles = platform_.roles;
  if (rule.cfa.kind != CfaRule::Kind::kRegisterOffset) return;
  MachineState state;
  state.platform = &platform_;
  state.exact = true;
  for (std::uint8_t reg = 0; reg < 32; ++reg) state.set(reg, value_of(reg));
  state.set(roles.pc, pc.value);
  state.set(roles.sp, kStack + 1024);
  std::uint64_t cfa = kStack + 1024 + static_cast<std::uint64_t>(rule.cfa.offset);
  if (rule.cfa.reg == roles.fp) {
    cfa = kStack + 1024 + static_cast<std::uint64_t>(frame.bytes);
    state.set(roles.fp, cfa - static_cast<std::uint64_t>(rule.cfa.offset));
  }
  // In a prologue or epilogue a register and its slot hold the same: either may be named.
  for (const auto& [reg, offset] : frame.saved)
    write(cfa + static_cast<std::uint64_t>(offset), value_of(reg));
  compare(pc, rule, state);
  for (const auto& [reg, offset] : frame.saved) {
    const std::uint64_t slot = cfa + static_cast<std::uint64_t>(offset);
    write(slot, word_at(slot));
  }
}

void Agreement::compare(ImageAddr pc, const Rule& rule, const MachineState& state) {
  const StackMemory memory(capture_, images_);
  const Step expected = apply(rule, {}, state, memory);
  const auto* caller = std::get_if<Caller>(&expected);
  if (caller == nullptr) return;
  const GuestVirt at{pc.value};
  const Step step = code_->step(image_, code_->rule_at(*image_, at), state, state, memory);
  const auto* found = std::get_if<Caller>(&step);
  if (found == nullptr || found->source == FrameSource::kGuess) {
    ++counts_.no_exit_path;
    return;
  }
  const std::string difference = this->difference(caller->state, found->state);
  if (difference.empty())
    ++counts_.agree;
  else
    counts_.differences.push_back(fmt::format("{:#x}:{}", pc.value, difference));
}

std::string Agreement::difference(const MachineState& a, const MachineState& b) const {
  std::string text;
  const std::uint64_t both =
      a.valid & b.valid &
      (platform_.roles.callee_saved | std::uint64_t{1} << platform_.roles.sp |
       std::uint64_t{1} << platform_.roles.pc);
  for (std::uint8_t reg = 0; reg < kTrackedRegisters; ++reg)
    if ((both >> reg & 1u) != 0 && a.get(reg) != b.get(reg))
      text += fmt::format(" {}: cfi {:#x}, code {:#x}", reg, a.get(reg), b.get(reg));
  if (!b.has(platform_.roles.pc) || !b.has_sp()) text += " no pc or sp";
  return text;
}

void expect_agreement(const std::string& path, std::size_t step, Precision precision) {
  const auto file = elf::ElfFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  const Counts counts = Agreement(*file).run(step, precision);
  const std::size_t all = counts.agree + counts.no_exit_path + counts.differences.size();
  std::ostringstream text;
  for (std::size_t i = 0; i < counts.differences.size() && i < 20; ++i)
    text << counts.differences[i] << '\n';
  std::printf("%s: %zu instructions, %zu agree, %zu have no exit path, %zu differ\n", path.c_str(),
              all, counts.agree, counts.no_exit_path, counts.differences.size());
  EXPECT_GT(all, 30u) << path;
  EXPECT_LE(counts.differences.size() * 1000, all) << text.str();
  // Registers outside of the frame are made up here: code that computes with them leads nowhere.
  EXPECT_LE(counts.no_exit_path * 100, all * 5) << path;
}

class ExitPath : public ::testing::TestWithParam<const char*> {};

TEST_P(ExitPath, AgreesWithCallFrameInformation) {
  const std::string name = GetParam();
  if (name.empty()) GTEST_SKIP() << "clang or ld.lld was missing";
  const bool exact = name.ends_with("_exact");
  expect_agreement(fmt::format("{}/{}", kLinkPrograms, name), 1,
                   exact ? Precision::kEverywhere : Precision::kInBodies);
}

INSTANTIATE_TEST_SUITE_P(Programs, ExitPath, ::testing::ValuesIn(kLinkProgramNames),
                         [](const auto& program) {
                           const std::string name = program.param;
                           return name.empty() ? std::string("none") : name;
                         });

// By hand: RINGSIDE_KERNELS=vmlinux:vmlinux2, kernels with .debug_frame; one of 40 functions.
TEST(ExitPathOfKernels, AgreesWithCallFrameInformation) {
  const char* paths = std::getenv("RINGSIDE_KERNELS");
  if (paths == nullptr) GTEST_SKIP() << "RINGSIDE_KERNELS names no kernel";
  std::istringstream stream(paths);
  for (std::string path; std::getline(stream, path, ':');)
    expect_agreement(path, 40, Precision::kEverywhere);
}

}  // namespace
}  // namespace ringside::unwind::link_register
