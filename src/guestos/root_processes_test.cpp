#include "guestos/root_processes.h"

#include <gtest/gtest.h>

#include "guestos/testing/fake_guest_memory.h"
#include "guestos/testing/program_file.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kLinked = 0x400000;
constexpr std::uint64_t kMillisecond = 1'000'000;

// Code of so many pages, each of which is another one.
std::string code(char what, std::size_t pages = 1, std::size_t last = kCodePage) {
  std::string text;
  for (std::size_t page = 0; page < pages; ++page)
    text += std::string(page + 1 == pages ? last : kCodePage, static_cast<char>(what + page));
  return text;
}

std::shared_ptr<const UserImage> program(const std::string& name, const std::string& text,
                                         const std::string& function = "work",
                                         std::uint16_t type = ET_EXEC) {
  auto image = std::make_shared<UserImage>();
  image->file =
      elf::ElfFile::from_bytes(testing::program_bytes(kLinked, text, function, type), name).value();
  image->name = name;
  return image;
}

class RootProcessesTest : public ::testing::Test {
 protected:
  RootProcesses& processes() {
    if (!processes_) {
      processes_.emplace(options_);
      processes_->count_unnamed();
    }
    return *processes_;
  }
  // A sample, one second after the one before.
  TaskAttribution sample(std::uint64_t root, std::uint64_t pc = kLinked + 0x10,
                         PrivilegeLevel level = PrivilegeLevel::kUser) {
    wire::Capture capture;
    capture.arch = Arch::kX86_64;
    capture.level = level;
    capture.host_time_ns = now_ns_ += 1000 * kMillisecond;
    capture.registers.set(arch::x86_64::kCr3, root);
    capture.registers.set(arch::x86_64::kRip, pc);
    capture.registers.set(arch::x86_64::kRsp, 0x7fff'0000);
    updates_ = {};
    const auto attribution = processes().attribute(capture, root & ~0xfffull, memory_, updates_);
    EXPECT_TRUE(attribution.has_value());
    return attribution.value_or(TaskAttribution());
  }
  TaskAttribution in_kernel(std::uint64_t root, std::uint64_t page = 0) {
    return sample(root, 0xffff'8000'0000'0000 + page * kCodePage, PrivilegeLevel::kKernel);
  }
  // The name that was reported at the last sample: "-" for a process without one, empty for
  // nothing.
  [[nodiscard]] std::string reported() const {
    if (updates_.names.empty()) return {};
    EXPECT_EQ(updates_.names.size(), 1u);
    EXPECT_EQ(updates_.names[0].is_number, updates_.names[0].name.empty());
    return updates_.names[0].is_number ? "-" : updates_.names[0].name;
  }
  // The programs, each in a file of the folder.
  void give_folder(const std::vector<std::shared_ptr<const UserImage>>& programs) {
    for (const auto& one : programs)
      testing::write_file(folder_.path / one->name, one->file->file_bytes());
    options_.programs = ProgramFiles::open(folder_.path).value();
  }

  AdapterOptions options_;
  testing::FakeGuestMemory memory_;
  ProcessUpdates updates_;

 private:
  testing::TemporaryFolder folder_;
  std::optional<RootProcesses> processes_;
  std::uint64_t now_ns_ = 0;
};

TEST_F(RootProcessesTest, EachRootOfUserCodeIsAProcess) {
  const TaskAttribution first = sample(0x1000);
  EXPECT_EQ(reported(), "-");
  EXPECT_EQ(first.pid, 1u);
  EXPECT_EQ(first.tid, 1u);
  EXPECT_TRUE(updates_.spaces.empty());  // its code is not known
  EXPECT_EQ(sample(0x2000).pid, 2u);
  EXPECT_EQ(sample(0x1018).pid, 1u);  // with a PCID
  EXPECT_TRUE(updates_.empty());
}

TEST_F(RootProcessesTest, TheKernelsOwnRootIsNone) {
  EXPECT_EQ(in_kernel(0x1000).pid, std::nullopt);
  EXPECT_EQ(in_kernel(0x1000).address_space, 0u);
  EXPECT_TRUE(updates_.empty());
  (void)sample(0x2000);
  EXPECT_EQ(in_kernel(0x2000).pid, 1u);
  EXPECT_EQ(in_kernel(0x1000).pid, std::nullopt);
}

TEST_F(RootProcessesTest, WhileAKernelMayBeFoundOnlyNamedOnesCount) {
  options_.user_program = program("shell", code('s'));
  memory_.put(0x2000, kLinked, as_bytes(code('s')));
  RootProcesses before(options_);
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.level = PrivilegeLevel::kUser;
  capture.registers.set(arch::x86_64::kRip, kLinked);
  const auto pid = [&](std::uint64_t root) {
    capture.registers.set(arch::x86_64::kCr3, root);
    return before.attribute(capture, root, memory_, updates_).value().pid;
  };
  EXPECT_EQ(pid(0x1000), std::nullopt);
  EXPECT_EQ(pid(0x2000), 1u);
  before.count_unnamed();
  EXPECT_EQ(pid(0x1000), 2u);
}

// Code that samples before that have seen was not compared with any file.
TEST_F(RootProcessesTest, OnceTheKernelIsFoundTheNextSampleFindsTheProgram) {
  memory_.put(0x1000, kLinked, as_bytes(code('s')));
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.level = PrivilegeLevel::kUser;
  capture.host_time_ns = kMillisecond;
  capture.registers.set(arch::x86_64::kRip, kLinked);
  capture.registers.set(arch::x86_64::kCr3, 0x1000);
  RootProcesses before(options_);
  EXPECT_TRUE(before.attribute(capture, 0x1000, memory_, updates_).has_value());
  options_.user_program = program("shell", code('s'));
  RootProcesses after(options_);
  after.take_over(before);
  capture.host_time_ns += kMillisecond;
  EXPECT_TRUE(after.attribute(capture, 0x1000, memory_, updates_).has_value());
  EXPECT_EQ(reported(), "shell");
}

TEST_F(RootProcessesTest, AProgramNamesTheProcessesThatRunIt) {
  options_.user_program = program("shell", code('s', 2));
  memory_.put(0x1000, kLinked, as_bytes(code('s', 2)));
  memory_.put(0x2000, kLinked, as_bytes(code('t', 2)));
  const TaskAttribution shell = sample(0x1000, kLinked + 0x1010);
  EXPECT_EQ(reported(), "shell");
  ASSERT_EQ(updates_.spaces.size(), 1u);
  EXPECT_EQ(updates_.spaces[0].id, shell.address_space);
  ASSERT_EQ(updates_.spaces[0].mappings.size(), 1u);
  EXPECT_EQ(updates_.spaces[0].mappings[0].start, GuestVirt{kLinked});
  EXPECT_EQ(updates_.spaces[0].mappings[0].end, GuestVirt{kLinked + 0x2000});
  EXPECT_TRUE(processes().caveats().empty());
  const TaskAttribution other = sample(0x2000, kLinked + 0x1010);
  EXPECT_EQ(reported(), "-");
  EXPECT_TRUE(updates_.spaces.empty());
  EXPECT_EQ(other.pid, 2u);
  ASSERT_EQ(processes().caveats().size(), 1u);
  EXPECT_EQ(processes().caveats()[0],
            "--user-elf shell: process 2 ran other code than the file holds, so its functions have "
            "no names; give the file that the guest runs");
}

TEST_F(RootProcessesTest, OnePageThatDiffersIsEnough) {
  options_.user_program = program("shell", code('s', 3));
  std::string built_again = code('s', 3);
  built_again[2 * kCodePage + 7] = '!';
  memory_.put(0x1000, kLinked, as_bytes(built_again));
  (void)sample(0x1000);
  EXPECT_EQ(reported(), "-");
}

TEST_F(RootProcessesTest, PagesThatAreNotThereSayNothing) {
  options_.user_program = program("shell", code('s', 3));
  memory_.put(0x1000, kLinked + 0x1000, as_bytes(code('t')));
  memory_.put(0x1000, kLinked + 0x2000, as_bytes(std::string(kCodePage, '\0')));  // not filled yet
  (void)sample(0x1000);
  EXPECT_EQ(reported(), "-");
  (void)sample(0x1000, kLinked + 0x2010);
  (void)sample(0x1000, kLinked + 0x1010);
  EXPECT_EQ(reported(), "shell");
  EXPECT_TRUE(processes().caveats().empty());
}

TEST_F(RootProcessesTest, CodeThatIsNotTheFilesDoesNotNameIt) {
  options_.user_program = program("shell", code('s'));
  memory_.put(0x1000, kLinked, as_bytes(code('s')));
  memory_.put(0x1000, 0x7000'0000, as_bytes(code('j')));  // a library, or made at run time
  (void)sample(0x1000, 0x7000'0010);
  EXPECT_EQ(reported(), "-");
  EXPECT_EQ(sample(0x1000).pid, 1u);
  EXPECT_EQ(reported(), "shell");
}

TEST_F(RootProcessesTest, OfAFolderTheFileIsTakenThatFits) {
  // The first page is the same in both.
  give_folder({program("a", code('a') + code('x')), program("b", code('a') + code('y'))});
  memory_.put(0x1000, kLinked, as_bytes(code('a') + code('y')));
  memory_.put(0x2000, kLinked, as_bytes(code('a') + code('x')));
  memory_.put(0x3000, kLinked, as_bytes(code('a') + code('z')));
  (void)sample(0x1000);
  EXPECT_EQ(reported(), "b");
  (void)sample(0x2000);
  EXPECT_EQ(reported(), "a");
  (void)sample(0x3000);
  EXPECT_EQ(reported(), "-");
}

TEST_F(RootProcessesTest, WhereTwoFitNeitherIsTakenUntilTheyDiffer) {
  give_folder({program("a", code('a') + code('x')), program("b", code('a') + code('y'))});
  memory_.put(0x1000, kLinked, as_bytes(code('a')));
  EXPECT_EQ(sample(0x1000).pid, 1u);
  EXPECT_EQ(reported(), "-");
  memory_.put(0x1000, kLinked + kCodePage, as_bytes(code('y')));
  EXPECT_EQ(sample(0x1000).pid, 1u);
  EXPECT_EQ(reported(), "b");
}

TEST_F(RootProcessesTest, OfTwoOfWhichOneIsTheBeginningTheLongerIsTaken) {
  give_folder({program("a", code('a', 1)), program("b", code('a', 2))});
  memory_.put(0x1000, kLinked, as_bytes(code('a', 2)));
  memory_.put(0x2000, kLinked, as_bytes(code('a', 1)));
  (void)sample(0x1000);
  EXPECT_EQ(reported(), "b");
  (void)sample(0x2000);  // what lies behind is not there
  EXPECT_EQ(reported(), "-");
}

TEST_F(RootProcessesTest, TheSameCodeIsOneProgramAndThatIsSaidOnce) {
  give_folder(
      {program("alias", code('a')), program("box", code('a')), program("stripped", code('a'), "")});
  memory_.put(0x1000, kLinked, as_bytes(code('a')));
  memory_.put(0x2000, kLinked, as_bytes(code('a')));
  (void)sample(0x1000);
  EXPECT_EQ(reported(), "alias");
  (void)sample(0x2000);
  EXPECT_EQ(reported(), "alias");
  const auto caveats = processes().caveats();
  ASSERT_EQ(caveats.size(), 1u);
  EXPECT_TRUE(
      caveats[0].ends_with("box hold the same code: a process that runs it is shown as "
                           "alias"))
      << caveats[0];
}

TEST_F(RootProcessesTest, AProgramThatMayMoveIsFoundWhereItRuns) {
  give_folder(
      {program("a", code('a', 3), "work", ET_DYN), program("b", code('p', 3), "work", ET_DYN)});
  memory_.put(0x1000, 0x5555'0000, as_bytes(code('p', 3)));
  (void)sample(0x1000, 0x5555'1010);
  EXPECT_EQ(reported(), "b");
  EXPECT_EQ(updates_.spaces.at(0).mappings.at(0).start, GuestVirt{0x5555'0000});
}

TEST_F(RootProcessesTest, OtherCodeAtARootIsAnotherProcess) {
  give_folder({program("ls", code('l')), program("cat", code('c'))});
  memory_.put(0x1000, kLinked, as_bytes(code('l')));
  EXPECT_EQ(sample(0x1000).pid, 1u);
  EXPECT_EQ(reported(), "ls");
  memory_.put(0x1000, kLinked, as_bytes(code('c')));
  EXPECT_EQ(sample(0x1000).pid, 1u);  // it may be about to end
  const TaskAttribution next = sample(0x1000);
  EXPECT_EQ(next.pid, 2u);
  EXPECT_EQ(reported(), "cat");
  EXPECT_EQ(updates_.spaces.at(0).id, next.address_space);
  EXPECT_EQ(in_kernel(0x1000).pid, 2u);
}

TEST_F(RootProcessesTest, DataBesideTheCodeMayChange) {
  memory_.put(0x1000, kLinked, as_bytes(code('l')));
  EXPECT_EQ(sample(0x1000).pid, 1u);
  memory_.put_value(0x1000, kLinked + 0x800, 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sample(0x1000).pid, 1u);
}

TEST_F(RootProcessesTest, ANameIsTakenBackWhereAPageTurnsOutToDiffer) {
  options_.user_program = program("shell", code('A', 100));
  std::string built_again = code('A', 100);
  built_again[kCodePage] = '!';  // a page that is not among those that are compared first
  memory_.put(0x1000, kLinked, as_bytes(built_again));
  const TaskAttribution first = sample(0x1000);
  EXPECT_EQ(reported(), "shell");
  (void)sample(0x1000, kLinked + 0x1010);
  (void)sample(0x1000);
  const TaskAttribution last = sample(0x1000, kLinked + 0x1010);
  EXPECT_EQ(reported(), "-");
  EXPECT_EQ(last.pid, first.pid);
  EXPECT_NE(last.address_space, first.address_space);
  EXPECT_EQ(processes().caveats().size(), 1u);
}

TEST_F(RootProcessesTest, TheUsersWordIsTheNameAndTheFileIsCompared) {
  options_.processes = {{0x1000, program("init", code('i'))}, {0x2000, program("sh", code('s'))}};
  memory_.put(0x1000, kLinked, as_bytes(code('i')));
  memory_.put(0x2000, kLinked, as_bytes(code('?')));
  EXPECT_EQ(in_kernel(0x1000).pid, 1u);
  EXPECT_EQ(reported(), "init");
  EXPECT_TRUE(updates_.spaces.empty());
  (void)sample(0x1000);
  EXPECT_EQ(reported(), "");
  ASSERT_EQ(updates_.spaces.size(), 1u);
  (void)sample(0x2000);
  EXPECT_EQ(reported(), "sh");
  EXPECT_TRUE(updates_.spaces.empty());
  ASSERT_EQ(processes().caveats().size(), 1u);
  EXPECT_TRUE(
      processes().caveats()[0].starts_with("--process 2000=sh:sh: process 2 ran other code"));
}

TEST_F(RootProcessesTest, WhereMemoryCannotBeComparedTheUserIsBelieved) {
  options_.user_program = program("shell", code('s'));
  memory_.has_physical = false;
  (void)sample(0x1000);
  EXPECT_EQ(reported(), "shell");
  EXPECT_EQ(updates_.spaces.size(), 1u);
  EXPECT_EQ(memory_.reads, 0u);
  ASSERT_EQ(processes().caveats().size(), 1u);
  EXPECT_NE(processes().caveats()[0].find("was not compared"), std::string::npos);
}

TEST_F(RootProcessesTest, CodeThatIsNeverReadIsSaid) {
  options_.user_program = program("shell", code('s'));
  (void)sample(0x1000);
  EXPECT_EQ(reported(), "-");
  ASSERT_EQ(processes().caveats().size(), 1u);
  EXPECT_NE(processes().caveats()[0].find("process 1 could not be read"), std::string::npos);
}

TEST_F(RootProcessesTest, WithPageTableIsolationBothRootsAreTheProcess) {
  memory_.put(0x1000, 0x7fff'0000, as_bytes("stack"));
  memory_.put(0x3000, 0x7fff'0000, as_bytes("stack"));
  memory_.same_as[0x2000] = 0x1000;
  EXPECT_EQ(sample(0x1000).pid, 1u);
  EXPECT_EQ(sample(0x3000).pid, 2u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_kernel(0x1000, i % 2).pid, 1u);  // entry and exit
  for (int i = 0; i < 12; ++i) EXPECT_EQ(in_kernel(0x5000, i).pid, std::nullopt);
  EXPECT_EQ(in_kernel(0x2000).pid, 1u);
  EXPECT_EQ(in_kernel(0x5000).pid, std::nullopt);  // the kernel's own
}

TEST_F(RootProcessesTest, WhereTheKernelRunsWithUserCodesRootsThereIsOneEach) {
  memory_.put(0x1000, 0x7fff'0000, as_bytes("stack"));
  memory_.same_as[0x2000] = 0x1000;  // a child that has not written yet
  EXPECT_EQ(sample(0x1000).pid, 1u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_kernel(0x1000, i).pid, 1u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_kernel(0x2000, i).pid, std::nullopt);
}

TEST_F(RootProcessesTest, LittleIsReadWhileNothingIsNew) {
  options_.user_program = program("shell", code('s', 40));
  memory_.put(0x1000, kLinked, as_bytes(code('s', 40)));
  for (int page = 0; page < 40; ++page) (void)sample(0x1000, kLinked + page * kCodePage);
  const std::size_t before = memory_.bytes_read;
  for (int i = 0; i < 100; ++i) (void)sample(0x1000);
  EXPECT_LE((memory_.bytes_read - before) / 100, 2 * kCodePage);
}

}  // namespace
}  // namespace ringside::guestos
