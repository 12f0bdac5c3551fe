#include "guestos/linux/tasks/cgroups.h"

#include <gtest/gtest.h>

#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"

namespace ringside::guestos {
namespace {

GuestVirt at(const void* object) { return {reinterpret_cast<std::uint64_t>(object)}; }

class CgroupsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const elf::ElfFile> file_ = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  Cgroups cgroups_ = Cgroups::of(**open_types(file_)).value();
  testing::OwnSpace own_memory_;
  KernelReader read_{own_memory_, Arch::kX86_64};
  kernfs_node root_{0, nullptr, ""};
  kernfs_node slice_{0, &root_, "system.slice"};
  kernfs_node service_{0, &slice_, "ssh.service"};
  cgroup group_{0, &service_};
  css_set set_{0, &group_};
  task_struct task_{};
};

TEST_F(CgroupsTest, PathsBeginAtTheRoot) {
  task_.cgroups = &set_;
  EXPECT_EQ(cgroups_.set_of(at(&task_), read_).value(), at(&set_));
  EXPECT_EQ(cgroups_.path_of(at(&set_), read_).value(), "/system.slice/ssh.service");
  group_.kn = &root_;
  EXPECT_EQ(cgroups_.path_of(at(&set_), read_).value(), "/");
}

TEST_F(CgroupsTest, DamageIsReported) {
  slice_.parent = &service_;
  EXPECT_EQ(cgroups_.path_of(at(&set_), read_).error().code, ErrorCode::kDisturbed);
  slice_.parent = reinterpret_cast<kernfs_node*>(0x10);
  EXPECT_EQ(cgroups_.path_of(at(&set_), read_).error().code, ErrorCode::kUnreadable);
  EXPECT_EQ(cgroups_.path_of({0}, read_).error().code, ErrorCode::kUnreadable);
}

}  // namespace
}  // namespace ringside::guestos
