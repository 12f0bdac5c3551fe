// This process stands for QEMU: it has the guest's RAM in a mapping of its own.

#include "engines/qemu_ram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "memory/testing/fake_physical_memory.h"

namespace ringside::engines {
namespace {

using memory::testing::FakePhysicalMemory;
using ::testing::HasSubstr;

constexpr std::size_t kBytes = 4u << 20;
constexpr GuestPhys kStart{0x40000000};

class Mapping {
 public:
  explicit Mapping(int file = -1) {
    const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    // Between pages that nobody may touch: two neighbours would be one mapping.
    around_ = ::mmap(nullptr, kBytes + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(around_, MAP_FAILED);
    at_ = ::mmap(static_cast<std::byte*>(around_) + kGuard, kBytes, PROT_READ | PROT_WRITE,
                 flags | MAP_FIXED, file, 0);
    EXPECT_NE(at_, MAP_FAILED);
  }
  ~Mapping() { ::munmap(around_, kBytes + 2 * kGuard); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  void fill(std::span<const std::byte> bytes) { std::copy(bytes.begin(), bytes.end(), begin()); }
  [[nodiscard]] std::byte* begin() const { return static_cast<std::byte*>(at_); }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(at_); }

 private:
  static constexpr std::size_t kGuard = 4096;

  void* around_;
  void* at_;
};

class QemuRamTest : public ::testing::Test {
 protected:
  QemuRamTest() {
    monitor_["info mtree -f"] =
        "FlatView #0\r\n AS \"memory\", root: system\r\n"
        "  0000000040000000-00000000403fffff (prio 0, ram): mem0\r\n";
    say_host_address(0);
    for (std::size_t i = 0; i < kBytes; i += 8) guest_.put(kStart + i, 0x1234'5678'0000 + i);
  }
  void say_host_address(std::uint64_t address) {
    monitor_["info ramblock"] =
        "  mem0    4 KiB  0x0000000000000000 0x0000000000400000 0x0000000000400000" +
        (address != 0 ? fmt::format(" {:#018x}  rw\r\n", address) : "\r\n");
  }
  QemuRam ram(pid_t qemu, bool has_fallback = true) {
    QemuRam::Access access;
    access.qemu = qemu;
    access.now_ns = [this] { return now_ns_; };
    access.monitor_command = [this](const std::string& command) -> Result<std::string> {
      ++asked_;
      return monitor_[command];
    };
    access.visit_physical = [this](const std::vector<GuestPhys>& places, std::size_t size,
                                   const auto& visit) -> Result<void> {
      std::vector<std::byte> bytes(size);
      for (const GuestPhys place : places) {
        RINGSIDE_ASSIGN(const std::size_t got, guest_.read_up_to(place, bytes));
        visit(place, std::span(bytes).first(got));
      }
      return {};
    };
    if (has_fallback)
      access.make_fallback = [this](const auto&) {
        return std::make_unique<FakePhysicalMemory>(guest_);
      };
    return QemuRam(std::move(access));
  }
  // Whether reads come from `mapping`: by a word that only it holds.
  static bool reads(QemuRam& ram, const Mapping& mapping) {
    std::fill_n(mapping.begin() + 0x1008, 8, std::byte{0x77});
    const auto found = ram.find();
    return found && (*found)->read_value<std::uint64_t>(kStart + 0x1008) == 0x7777777777777777;
  }

  std::map<std::string, std::string> monitor_;
  FakePhysicalMemory guest_{kBytes, kStart};
  int asked_ = 0;
  std::uint64_t now_ns_ = 1'000'000'000;
};

TEST_F(QemuRamTest, WhereQemuSaysItHasTheBlock) {
  Mapping mapping;
  mapping.fill(guest_.bytes);
  say_host_address(mapping.address());
  QemuRam found = ram(::getpid());
  ASSERT_TRUE(found.find());
  EXPECT_TRUE(found.reads_qemu());
  EXPECT_THAT(found.explain(), HasSubstr(fmt::format("process {}", ::getpid())));
  EXPECT_TRUE(reads(found, mapping));
}

// A guest's memory is the host's only from the guest's first write on.
TEST_F(QemuRamTest, PagesThatTheGuestNeverWroteAreNotProvidedByTheHost) {
  constexpr std::size_t kWritten = 64u << 10;
  constexpr std::size_t kPage = 4096;
  Mapping mapping;
  ::madvise(mapping.begin(), kBytes, MADV_NOHUGEPAGE);
  std::fill(guest_.bytes.begin() + kWritten, guest_.bytes.end(), std::byte{});
  mapping.fill(std::span(guest_.bytes).first(kWritten));
  say_host_address(mapping.address());
  QemuRam found = ram(::getpid());
  ASSERT_TRUE(found.find());
  EXPECT_TRUE(found.reads_qemu());
  std::array<unsigned char, kBytes / kPage> resident{};
  ASSERT_EQ(::mincore(mapping.begin(), kBytes, resident.data()), 0);
  EXPECT_EQ(std::count_if(resident.begin(), resident.end(), [](auto page) { return page & 1; }),
            static_cast<std::ptrdiff_t>(kWritten / kPage));
}

TEST_F(QemuRamTest, WhereItDoesNotTheMappingsAreCompared) {
  Mapping other, mapping;
  std::vector<std::byte> wrong(kBytes, std::byte{0x5a});
  other.fill(wrong);
  mapping.fill(guest_.bytes);
  QemuRam found = ram(::getpid());
  ASSERT_TRUE(found.find());
  EXPECT_TRUE(found.reads_qemu());
  EXPECT_TRUE(reads(found, mapping));
}

TEST_F(QemuRamTest, AnAddressOfAnotherProcessIsNotTaken) {
  Mapping mapping;  // holds other bytes
  mapping.fill(std::vector<std::byte>(kBytes, std::byte{0x5a}));
  for (const std::uint64_t address : {mapping.address(), std::uint64_t{0x1000}}) {
    say_host_address(address);
    QemuRam found = ram(::getpid());
    ASSERT_TRUE(found.find());
    EXPECT_FALSE(found.reads_qemu());
    EXPECT_FALSE(reads(found, mapping));
    EXPECT_THAT(found.explain(), HasSubstr("nothing is seen to be"));
  }
}

// Firmware has not put it there yet, or it is plugged in.
TEST_F(QemuRamTest, MemoryThatIsMissedIsPolledAgain) {
  Mapping mapping;
  mapping.fill(guest_.bytes);
  say_host_address(mapping.address());
  const std::string whole = monitor_["info mtree -f"];
  monitor_["info mtree -f"] =
      "FlatView #0\r\n AS \"memory\", root: system\r\n"
      "  0000000040000000-00000000401fffff (prio 0, ram): mem0\r\n";
  QemuRam found = ram(::getpid());
  const auto memory = found.find();
  ASSERT_TRUE(memory);
  EXPECT_TRUE(found.reads_qemu());
  const GuestPhys late = kStart + kBytes / 2 + 64;
  EXPECT_FALSE((*memory)->read_value<std::uint64_t>(late));
  monitor_["info mtree -f"] = whole;
  const int asked = asked_;
  ASSERT_TRUE(found.find());
  EXPECT_EQ(asked_, asked);  // not at once again
  now_ns_ += 110'000'000;
  EXPECT_EQ(found.find(), *memory);
  EXPECT_TRUE(found.reads_qemu());
  EXPECT_EQ((*memory)->read_value<std::uint64_t>(late), 0x1234'5678'0000 + kBytes / 2 + 64);
  // Nothing is asked for while nothing is missed.
  now_ns_ += 210'000'000;
  const int asked_then = asked_;
  ASSERT_TRUE(found.find());
  EXPECT_EQ(asked_, asked_then);
}

TEST_F(QemuRamTest, WhileMemoryIsZeroTheSlowWayIsUsed) {
  Mapping mapping;
  say_host_address(mapping.address());
  const std::vector<std::byte> full = std::exchange(guest_.bytes, std::vector<std::byte>(kBytes));
  QemuRam found = ram(::getpid());
  ASSERT_TRUE(found.find());
  EXPECT_FALSE(found.reads_qemu());
  guest_.bytes = full;
  mapping.fill(full);
  const int asked = asked_;
  ASSERT_TRUE(found.find());
  EXPECT_FALSE(found.reads_qemu());  // not at once again
  EXPECT_EQ(asked_, asked);
  now_ns_ += 110'000'000;
  ASSERT_TRUE(found.find());
  EXPECT_TRUE(found.reads_qemu());
}

TEST_F(QemuRamTest, WithoutAnyWayThereIsNone) {
  QemuRam no_process = ram(0, false);
  ASSERT_FALSE(no_process.find());
  EXPECT_EQ(no_process.find().error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(no_process.find().error().message, HasSubstr("no QEMU of this user"));
  monitor_["info mtree -f"] = "unknown command: 'info mtree'\r\n";
  QemuRam no_map = ram(::getpid());
  EXPECT_EQ(no_map.find().error().code, ErrorCode::kUnsupported);
}

TEST_F(QemuRamTest, AFailingConnectionIsAnError) {
  Mapping mapping;
  mapping.fill(guest_.bytes);
  guest_.error = Error{ErrorCode::kClosed, "gone"};
  EXPECT_EQ(ram(::getpid()).find().error().code, ErrorCode::kClosed);
}

TEST_F(QemuRamTest, ABackendsFileIsReadWhereTheProcessIsNotKnown) {
  const std::string path = ::testing::TempDir() + "ringside-ram-" + std::to_string(::getpid());
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_EQ(std::fwrite(guest_.bytes.data(), 1, kBytes, file), kBytes);
  std::fclose(file);
  monitor_["qom-get /objects/mem0 mem-path"] = "\"" + path + "\"\r\n";
  QemuRam found = ram(0);
  ASSERT_TRUE(found.find());
  EXPECT_TRUE(found.reads_qemu());
  EXPECT_THAT(found.explain(), HasSubstr(path));
  ::unlink(path.c_str());
}

// Makes the system refuse process_vm_readv to this process, as where Yama's ptrace_scope is 1.
void forbid_reading_processes() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{4, program};
  EXPECT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  EXPECT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST_F(QemuRamTest, WhatMayNotBeTracedIsReadByItsSharedFile) {
  const pid_t child = ::fork();
  if (child == 0) {
    forbid_reading_processes();
    {
      Mapping own;
      own.fill(guest_.bytes);
      QemuRam refused = ram(::getpid());
      EXPECT_TRUE(refused.find());
      EXPECT_FALSE(refused.reads_qemu());
      EXPECT_THAT(refused.explain(), HasSubstr("Operation not permitted"));
    }
    const int file = ::memfd_create("mem0", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(file, kBytes), 0);
    Mapping shared(file);
    shared.fill(guest_.bytes);
    QemuRam found = ram(::getpid());
    EXPECT_TRUE(reads(found, shared));
    EXPECT_THAT(found.explain(), HasSubstr("memfd:mem0"));
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringside::engines
