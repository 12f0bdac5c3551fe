#include "guestos/linux/tasks/address_spaces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"
#include "guestos/testing/program_file.h"

namespace ringside::guestos {
namespace {

class MemoryWithAPage final : public testing::OwnMemory {
 public:
  Result<std::unique_ptr<GuestSpace>> process_space(GuestVirt) override {
    return std::make_unique<PageSpace>(first_page);
  }

  std::vector<std::byte> first_page;  // every process has it, wherever it is asked

 private:
  class PageSpace final : public GuestSpace {
   public:
    explicit PageSpace(Bytes page) : page_(page) {}
    Result<std::size_t> read_up_to(GuestVirt, std::span<std::byte> into) override {
      const std::size_t size = std::min(into.size(), page_.size());
      std::copy_n(page_.begin(), size, into.begin());
      return size;
    }

   private:
    Bytes page_;
  };
};

std::uint64_t at(const void* object) { return reinterpret_cast<std::uint64_t>(object); }

// A process in the test's own memory: a program's code of one page, and a library's.
struct Process {
  mm_struct mm{};
  maple_node leaf{};
  std::array<vm_area_struct, 2> mappings{};
};

// Programs are at `start`, linked to 0, with their code in the second page.
class AddressSpaces : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kLibrary = 0x7f0000000000;

  AddressSpaces() {
    root_mount_.mnt_parent = &root_mount_;
    root_mount_.mnt.mnt_root = &root_;
    root_.d_parent = &root_;
    for (std::size_t i = 0; i < inodes_.size(); ++i) {
      inodes_[i].i_sb = &super_block_;
      inodes_[i].i_ino = i + 1;
      inodes_[i].i_size = 5000;
      inodes_[i].i_ctime_sec = 1795300625;
      files_[i].f_inode = &inodes_[i];
      files_[i].f_path = {&root_mount_.mnt, &root_};
    }
  }
  Process& add(std::uint64_t start, file& program) {
    Process& process = processes_.emplace_back();
    process.mm.pgd = &process;
    process.mm.exec_vm = 2;
    process.mm.start_code = start + kPage;
    process.mm.start_stack = 0x7ff0000;
    process.mm.exe_file = &program;
    process.mm.map_count = 2;
    process.mm.mm_mt.ma_root = reinterpret_cast<char*>(&process.leaf) + (1 << 3 | 2);
    process.leaf.parent = reinterpret_cast<char*>(&process.leaf) + 0x100 + 1;
    add_mapping(process, 0, start + kPage, program);
    add_mapping(process, 1, kLibrary, files_[2]);
    return process;
  }
  void add_mapping(Process& process, std::size_t number, std::uint64_t start, file& of) {
    vm_area_struct& mapping = process.mappings[number];
    mapping.vm_start = start;
    mapping.vm_end = start + kPage;
    mapping.vm_mm = &process.mm;
    mapping.__vm_flags = LinuxMapping::kRead | LinuxMapping::kExecute;
    mapping.vm_pgoff = 1;
    mapping.vm_file = &of;
    process.leaf.mr64.pivot[2 * number] = start - 1;
    process.leaf.mr64.pivot[2 * number + 1] = start + kPage - 1;
    process.leaf.mr64.slot[2 * number + 1] = &mapping;
  }
  // As a capture has it.
  [[nodiscard]] TaskView view_of(const Process& process) {
    TaskView view;
    view.space = {at(&process.mm), at(process.mm.pgd), process.mm.exec_vm, process.mm.start_code,
                  process.mm.start_stack};
    view.program = read_file_identity(types_, KernelReader(memory_.kernel(), types_.arch),
                                      GuestVirt{at(process.mm.exe_file)})
                       .value();
    return view;
  }
  static void end(Process& process) { process.mm.exe_file = process.mm.pgd = nullptr; }
  [[nodiscard]] std::uint64_t find(const TaskView& task) {
    return spaces_.find(task, memory_, updates_).value();
  }

  std::shared_ptr<const elf::ElfFile> file_ = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  elf::Image kernel_{1, "kernel", file_, 0, false};
  std::unique_ptr<TypeSource> source_ = open_types(file_).value();
  LinuxTypes types_ = LinuxTypes::of(*file_, *source_).value();
  MemoryWithAPage memory_;
  ProcessUpdates updates_;
  LinuxAddressSpaces spaces_{types_, UserImages(kernel_, types_, {}),
                             std::make_shared<AddressSpaceIds>()};
  mount root_mount_{};
  dentry root_{};
  super_block super_block_{};
  std::array<inode, 3> inodes_{};
  std::array<file, 3> files_{};
  std::deque<Process> processes_;
};

TEST_F(AddressSpaces, AProgramIsReportedWhereItWasSeenBefore) {
  Process& gone = add(0x550000000000, files_[0]);
  const TaskView captured = view_of(gone);
  end(gone);
  EXPECT_EQ(find(captured), 0u);  // never seen
  const std::uint64_t seen = find(view_of(add(0x560000000000, files_[0])));
  EXPECT_NE(seen, 0u);
  ASSERT_EQ(updates_.spaces.size(), 1u);
  EXPECT_TRUE(updates_.spaces[0].is_complete);
  EXPECT_EQ(updates_.spaces[0].mappings.size(), 2u);

  const std::uint64_t reported = find(captured);
  EXPECT_NE(reported, 0u);
  EXPECT_NE(reported, seen);
  ASSERT_EQ(updates_.spaces.size(), 2u);
  const AddressSpaceUpdate& space = updates_.spaces[1];
  EXPECT_EQ(space.id, reported);
  EXPECT_FALSE(space.is_complete);
  ASSERT_EQ(space.mappings.size(), 1u);  // where the library is, nothing shows
  EXPECT_EQ(space.mappings[0].start, GuestVirt{0x550000001000});
  EXPECT_EQ(space.mappings[0].end, GuestVirt{0x550000002000});
  EXPECT_EQ(space.mappings[0].offset, FileOffset{kPage});
  EXPECT_EQ(space.mappings[0].image, updates_.spaces[0].mappings[0].image);
  EXPECT_EQ(find(captured), reported);
  EXPECT_EQ(updates_.spaces.size(), 2u);
}

TEST_F(AddressSpaces, AnotherFileOrOtherCodeIsNotReported) {
  EXPECT_NE(find(view_of(add(0x400000, files_[0]))), 0u);
  Process& gone = add(0x400000, files_[0]);
  const TaskView same = view_of(gone);
  end(gone);
  const auto reported = [&](auto change) {
    TaskView other = same;
    change(other);
    return find(other) != 0;
  };
  EXPECT_FALSE(reported([](TaskView& task) { task.program.reset(); }));
  EXPECT_FALSE(reported([](TaskView& task) { ++task.program->device; }));
  EXPECT_FALSE(reported([](TaskView& task) { ++task.program->number; }));
  EXPECT_FALSE(reported([](TaskView& task) { ++task.program->generation; }));
  EXPECT_FALSE(reported([](TaskView& task) { ++task.program->size; }));
  EXPECT_FALSE(reported([](TaskView& task) { ++task.program->changed; }));
  EXPECT_FALSE(reported([](TaskView& task) { ++task.program->changed_ns; }));
  EXPECT_FALSE(reported([](TaskView& task) { ++task.space[2]; }));     // executable pages
  EXPECT_FALSE(reported([](TaskView& task) { task.space[3] += 8; }));  // no whole pages away
  EXPECT_FALSE(reported([](TaskView& task) { task.space[3] = 0 - kPage; }));
  EXPECT_TRUE(reported([](TaskView&) {}));
}

// The same struct mm_struct at the same addresses, with nothing randomized, is another program's.
TEST_F(AddressSpaces, AProcessThatHasFollowedIsAnotherOne) {
  Process& first = add(0x400000, files_[0]);
  const TaskView captured = view_of(first);
  first.mm.exe_file = &files_[1];
  first.mappings[0].vm_file = &files_[1];
  EXPECT_EQ(find(captured), 0u);
  const std::uint64_t second = find(view_of(first));
  EXPECT_NE(second, 0u);
  EXPECT_EQ(find(captured), 0u);
}

TEST_F(AddressSpaces, WhatIsReadLaterReplacesWhatWasReported) {
  EXPECT_NE(find(view_of(add(0x400000, files_[0]))), 0u);
  Process& changing = add(0x400000, files_[0]);
  changing.mm.map_count = 3;  // it is mapping more
  const std::uint64_t reported = find(view_of(changing));
  EXPECT_FALSE(updates_.spaces.back().is_complete);
  changing.mm.map_count = 2;
  const std::uint64_t read = find(view_of(changing));
  EXPECT_NE(read, reported);
  EXPECT_TRUE(updates_.spaces.back().is_complete);
  EXPECT_EQ(updates_.spaces.back().mappings.size(), 2u);
  EXPECT_EQ(find(view_of(changing)), read);
}

// Where the page cache cannot be read, the build id is in what the process has mapped.
TEST_F(AddressSpaces, TheMappedHeaderReportsTheBuildOfAFileOnTheHost) {
  const testing::TemporaryFolder sysroot;
  testing::write_file(sysroot.path / "dd", testing::program_with_build_id("same"));
  dentry name{};
  name.d_parent = &root_;
  name.d_name.name = "dd";
  name.d_name.len = 2;
  files_[0].f_path.dentry = &name;
  for (const char* build_id : {"same", "else"}) {
    memory_.first_page = testing::program_with_build_id(build_id);
    inodes_[0].i_size = static_cast<long long>(memory_.first_page.size());
    LinuxAddressSpaces spaces(types_, UserImages(kernel_, types_, HostFiles(sysroot.path)),
                              std::make_shared<AddressSpaceIds>());
    Process& process = add(0x400000, files_[0]);
    process.mappings[0].vm_pgoff = 0;  // the header is in front of the code
    ProcessUpdates updates;
    ASSERT_TRUE(spaces.find(view_of(process), memory_, updates));
    ASSERT_EQ(updates.spaces.size(), 1u);
    const bool is_same = std::string_view(build_id) == "same";
    EXPECT_EQ(updates.spaces[0].mappings[0].image->from_guest, !is_same);
    EXPECT_EQ(spaces.caveat().empty(), is_same) << spaces.caveat();
  }
}

}  // namespace
}  // namespace ringside::guestos
