// User code as it is: programs of the host's C library, linked in every way, under ptrace. Where
// they stop, each frame is compared with what libunwind finds in the living process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libunwind-ptrace.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "unwind/user/user_unwinder.h"

namespace ringside::unwind {
namespace {

using ::testing::ElementsAre;
using Names = std::vector<std::string>;

class Process {
 public:
  explicit Process(const std::string& program, const std::string& argument) {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::execl(program.c_str(), program.c_str(), argument.c_str(), nullptr);
      ::_exit(127);
    }
    wait();
    is_traced_ = alive();
  }
  ~Process() {
    if (!alive()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_traced() const { return is_traced_; }
  [[nodiscard]] bool alive() const { return WIFSTOPPED(status_); }
  [[nodiscard]] int status() const { return status_; }
  // To the next int3; false where it has ended.
  bool go_on() {
    int signal = 0;
    do {
      ::ptrace(PTRACE_CONT, pid_, nullptr, signal);
      wait();
      signal = alive() ? WSTOPSIG(status_) : 0;
    } while (alive() && signal != SIGTRAP);
    return alive();
  }
  [[nodiscard]] user_regs_struct registers() const {
    user_regs_struct regs{};
    ::ptrace(PTRACE_GETREGS, pid_, nullptr, &regs);
    return regs;
  }
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t from, std::uint64_t to) const {
    std::vector<std::byte> bytes(to - from);
    const iovec local{bytes.data(), bytes.size()};
    const iovec remote{reinterpret_cast<void*>(from), bytes.size()};
    const ssize_t count = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return bytes;
  }

 private:
  void wait() {
    if (::waitpid(pid_, &status_, 0) != pid_) status_ = 0;
  }
  pid_t pid_ = -1;
  int status_ = 0;
  bool is_traced_ = false;
};

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  bool executable = false;
  std::string path;
};

std::vector<Mapping> mappings_of(pid_t pid) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::vector<Mapping> mappings;
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    std::string rights, device, inode;
    char dash = 0;
    std::istringstream fields(line);
    fields >> std::hex >> mapping.start >> dash >> mapping.end >> rights >> mapping.offset >>
        device >> inode >> mapping.path;
    mapping.executable = rights.size() > 2 && rights[2] == 'x';
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

std::uint64_t load_bias(const elf::ElfFile& file, const Mapping& mapping) {
  for (const elf::Segment& segment : file.segments())
    if (segment.executable && mapping.offset + 0xfff >= segment.offset.value &&
        mapping.offset < segment.offset.value + segment.file_size)
      return mapping.start - (segment.address.value + mapping.offset - segment.offset.value);
  ADD_FAILURE() << mapping.path;
  return 0;
}

std::vector<std::uint64_t> frames_by_libunwind(pid_t pid) {
  const unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
  void* const tracee = _UPT_create(pid);
  unw_cursor_t cursor;
  std::vector<std::uint64_t> frames;
  if (unw_init_remote(&cursor, space, tracee) == 0) do {
      unw_word_t ip = 0;
      unw_get_reg(&cursor, UNW_REG_IP, &ip);
      if (ip == 0) break;
      frames.push_back(ip);
    } while (frames.size() < 200 && unw_step(&cursor) > 0);
  _UPT_destroy(tracee);
  unw_destroy_addr_space(space);
  return frames;
}

bool is_of_musl(std::string_view program) { return program.find("musl") != std::string_view::npos; }

class UserProcess : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<const elf::ElfFile> file_of(const Mapping& mapping) {
    auto& file = files_[mapping.path];
    if (file) return file;
    const bool is_vdso = mapping.path == "[vdso]";
    auto opened =
        is_vdso ? elf::ElfFile::from_bytes(process_->read(mapping.start, mapping.end), mapping.path)
                : elf::ElfFile::open(mapping.path);
    if (opened) file = *opened;
    return file;
  }
  void read_mappings() {
    std::vector<UserCode::Range> ranges;
    files_by_image_.assign(1, {});
    for (const Mapping& mapping : mappings_of(process_->pid())) {
      if (mapping.path == "[stack]") stack_end_ = mapping.end;
      if (!mapping.executable || mapping.path == "[vsyscall]") continue;
      const auto file = file_of(mapping);
      ASSERT_TRUE(file) << mapping.path;
      ranges.push_back({{mapping.start},
                        {mapping.end},
                        load_bias(*file, mapping),
                        static_cast<std::uint32_t>(files_by_image_.size()),
                        file});
      biases_[ranges.back().image] = ranges.back().load_bias;
      files_by_image_.push_back(file);
    }
    code_ = UserCode(std::move(ranges));
  }
  // Names of the program's own functions and of those of the library that it opens, not of the C
  // library's.
  [[nodiscard]] Names names(const Stack& stack) const {
    static const std::set<std::string_view> kOwn = {
        "_start",   "main",    "checkpoint",     "on_signal", "compare",    "sort_all",
        "on_fault", "at_exit", "faults_at_once", "set_up",    "plugin_call"};
    constexpr std::uint64_t kUnsized = 22;  // musl's _start has no size
    Names names;
    for (const Frame& frame : stack.frames) {
      const auto& file = files_by_image_.at(frame.image);
      if (!file || file->name().find("user_") == std::string::npos) continue;
      const std::uint64_t at = frame.address.value - (frame.exact ? 0 : 1);
      for (const elf::FunctionSymbol& function : file->symbols())
        if (at - function.address.value < (function.size == 0 ? kUnsized : function.size) &&
            kOwn.count(function.name) != 0)
          names.emplace_back(function.name);
    }
    return names;
  }
  // Walks, and compares every frame.
  Names poll() {
    read_mappings();
    const user_regs_struct regs = process_->registers();
    const std::uint64_t values[] = {regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi,
                                    regs.rbp, regs.rsp, regs.r8,  regs.r9,  regs.r10, regs.r11,
                                    regs.r12, regs.r13, regs.r14, regs.r15, regs.rip};
    wire::Capture capture;
    capture.arch = Arch::kX86_64;
    capture.level = PrivilegeLevel::kUser;
    for (std::size_t i = 0; i < std::size(values); ++i) capture.registers.set(i, values[i]);
    capture.bytes = process_->read(regs.rsp, stack_end_);
    const auto size = static_cast<std::uint32_t>(capture.bytes.size());
    capture.pieces.push_back({{regs.rsp}, wire::PieceKind::kUserStack, size, 0, size});
    const Stack stack = unwinder_.unwind(capture.arch, capture.registers, capture, code_);
    std::vector<std::uint64_t> found;
    for (const Frame& frame : stack.frames)
      found.push_back(frame.address.value + (frame.image == 0 ? 0 : biases_.at(frame.image)));
    // libunwind 1.6 does not get on in a static program, nor without call-frame information: there
    // the names are the only witness.
    const std::string_view program = GetParam();
    if (program != "user_static" && !is_of_musl(program)) {
      EXPECT_EQ(found, frames_by_libunwind(process_->pid()));
    }
    EXPECT_EQ(stack.stop, StopReason::kEndOfStack)
        << name_of(stack.stop) << std::hex << " at " << stack.stopped_at.value;
    return names(stack);
  }

  std::unique_ptr<Process> process_;
  std::map<std::string, std::shared_ptr<const elf::ElfFile>> files_;
  std::vector<std::shared_ptr<const elf::ElfFile>> files_by_image_;
  std::map<std::uint32_t, std::uint64_t> biases_;
  std::uint64_t stack_end_ = 0;
  UserCode code_;
  UserUnwinder unwinder_;
};

TEST_P(UserProcess, EveryFrameThroughOthersCode) {
  const std::string folder = RINGSIDE_STEP_PROGRAMS;
  if (is_of_musl(GetParam()) && !std::filesystem::exists(folder + "/" + GetParam()))
    GTEST_SKIP() << "there is no musl-gcc here";
  process_ = std::make_unique<Process>(folder + "/" + GetParam(), folder + "/user_plugin.so");
  if (!process_->is_traced()) GTEST_SKIP() << "ptrace is not allowed here";
  const bool opens_plugin = std::string_view(GetParam()).find("dynamic") != std::string_view::npos;
  // A signal below the C library's sort and raise().
  ASSERT_TRUE(process_->go_on());
  EXPECT_THAT(poll(),
              ElementsAre("checkpoint", "on_signal", "compare", "sort_all", "main", "_start"));
  // One at the first instruction of a function.
  ASSERT_TRUE(process_->go_on());
  EXPECT_THAT(poll(), ElementsAre("checkpoint", "on_fault", "faults_at_once", "main", "_start"));
  if (opens_plugin) {
    // Through the dynamic loader at work, and from a library that was not there at the start.
    ASSERT_TRUE(process_->go_on());
    EXPECT_THAT(poll(), ElementsAre("set_up", "main", "_start"));
    ASSERT_TRUE(process_->go_on());
    EXPECT_THAT(poll(), ElementsAre("checkpoint", "plugin_call", "main", "_start"));
  }
  // After main() has returned.
  ASSERT_TRUE(process_->go_on());
  EXPECT_THAT(poll(), ElementsAre("checkpoint", "at_exit", "_start"));
  EXPECT_FALSE(process_->go_on());
  EXPECT_TRUE(WIFEXITED(process_->status()) && WEXITSTATUS(process_->status()) == 0);
}

INSTANTIATE_TEST_SUITE_P(Linked, UserProcess,
                         ::testing::Values("user_dynamic", "user_dynamic_fp", "user_static",
                                           "user_static_pie", "user_musl_dynamic",
                                           "user_musl_static"),
                         [](const auto& program) { return std::string(program.param); });

}  // namespace
}  // namespace ringside::unwind
