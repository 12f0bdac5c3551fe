#include "session/user_stacks.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "elf/elf_writer.h"
#include "recording/reader.h"
#include "recording/recording_test_util.h"

namespace ringside::session {
namespace {

class Reading final : public recording::Visitor {
 public:
  void image(const recording::ImageInfo& image) override { images.push_back(image); }
  void frame(std::uint32_t, const recording::RecordedFrame& frame) override {
    frames.push_back(frame);
  }
  void thread_name(const recording::ThreadName& name) override { names.push_back(name); }
  std::vector<recording::ImageInfo> images;
  std::vector<recording::RecordedFrame> frames;
  std::vector<recording::ThreadName> names;
};

// A library that could not be read, mapped at two addresses in two processes.
class UserStacksTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kOffset = 0x2000;  // of the code in its file

  UserStacksTest() {
    guestos::ProcessUpdates updates;
    const auto library =
        std::make_shared<guestos::UserImage>(guestos::UserImage{"libx.so", "/libx.so", {}, true});
    for (const std::uint64_t id : {1, 2})
      updates.spaces.push_back(
          {id,
           Arch::kX86_64,
           {{start_of(id), start_of(id) + 0x1000, FileOffset{kOffset}, library}}});
    updates.names.push_back({7, 8, 0, "dd"});
    EXPECT_TRUE(stacks_.adopt(updates, 5));
  }
  [[nodiscard]] static GuestVirt start_of(std::uint64_t space) { return {space << 32}; }
  [[nodiscard]] static guestos::TaskAttribution attributed(std::uint64_t space) {
    guestos::TaskAttribution attribution;
    attribution.address_space = space;
    return attribution;
  }
  [[nodiscard]] static arch::Registers at(std::uint64_t pc) {
    arch::Registers registers;
    registers.set(arch::x86_64::kRip, pc);
    registers.set(arch::x86_64::kRsp, 0x7fff0000);
    return registers;
  }
  [[nodiscard]] static wire::Capture user_code(std::uint64_t pc) {
    wire::Capture capture;
    capture.arch = Arch::kX86_64;
    capture.level = PrivilegeLevel::kUser;
    capture.registers = at(pc);
    return capture;
  }

  recording::testing::TempDir dir_;
  recording::Writer writer_ = recording::Writer::create(dir_ / "r.data", {}).value();
  UserStacks stacks_{writer_};
};

TEST_F(UserStacksTest, AFunctionIsOneFrameWhereverItIsLoaded) {
  for (const std::uint64_t space : {1, 2}) {
    const auto stack = stacks_.unwind(user_code(start_of(space).value + 0x123), attributed(space));
    ASSERT_TRUE(stack);
    ASSERT_EQ(stack->frames.size(), 1u);
    EXPECT_EQ(stack->frames[0].address.value, kOffset + 0x123);
    EXPECT_EQ(stack->frames[0].image, 1u);
    EXPECT_EQ(stack->stop, StopReason::kNoRule);
    recording::SampleInfo info;
    info.time_ns = 10 * space;
    ASSERT_TRUE(writer_.add_sample(info, &*stack));
  }
  ASSERT_TRUE(writer_.finish());
  Reading reading;
  auto reader = recording::Reader::open(dir_ / "r.data");
  ASSERT_TRUE(reader && reader->for_each(reading));
  ASSERT_EQ(reading.images.size(), 1u);
  EXPECT_EQ(reading.images[0].name, "libx.so");
  ASSERT_EQ(reading.frames.size(), 1u);
  EXPECT_EQ(reading.frames[0].image, 1u);
  ASSERT_EQ(reading.names.size(), 1u);
  EXPECT_EQ(reading.names[0].time_ns, 5u);
  EXPECT_EQ(reading.names[0].name, "dd");
}

TEST_F(UserStacksTest, TheAddressSpaceDecides) {
  // The other process's library is not there.
  const auto elsewhere = stacks_.unwind(user_code(start_of(2).value), attributed(1));
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->frames[0].image, 0u);
  EXPECT_EQ(elsewhere->frames[0].address, start_of(2));
  EXPECT_TRUE(stacks_.knows(2));
  EXPECT_FALSE(stacks_.knows(3));
  EXPECT_FALSE(stacks_.unwind(user_code(start_of(2).value), attributed(3)));
  EXPECT_FALSE(stacks_.unwind(user_code(start_of(2).value), attributed(0)));
}

TEST_F(UserStacksTest, WhereNotAllIsKnownTheRestIsNoCode) {
  guestos::ProcessUpdates updates;
  const auto program =
      std::make_shared<guestos::UserImage>(guestos::UserImage{"x", "/x", {}, true});
  updates.spaces.push_back({3,
                            Arch::kX86_64,
                            {{start_of(3), start_of(3) + 0x1000, FileOffset{kOffset}, program}},
                            false});
  ASSERT_TRUE(stacks_.adopt(updates, 6));
  const auto inside = stacks_.unwind(user_code(start_of(3).value + 1), attributed(3));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->frames[0].address.value, kOffset + 1);
  EXPECT_FALSE(stacks_.unwind(user_code(start_of(1).value), attributed(3)));
}

TEST_F(UserStacksTest, BelowTheKernelUserCodeHasTheRegistersItEnteredWith) {
  wire::Capture kernel = user_code(0xffffffff81000000);
  kernel.level = PrivilegeLevel::kKernel;
  guestos::TaskAttribution runs_for = attributed(1);
  EXPECT_FALSE(stacks_.unwind(kernel, runs_for));
  runs_for.user = at(start_of(1).value + 4);
  const auto stack = stacks_.unwind(kernel, runs_for);
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->frames[0].address.value, kOffset + 4);
  EXPECT_EQ(stack->frames[0].kind, FrameKind::kUser);
}

TEST_F(UserStacksTest, ASystemCallIsEnteredFromBehindItsInstruction) {
  const std::vector<std::byte> code = {std::byte{0x90}, std::byte{0x0f}, std::byte{0x05},
                                       std::byte{0x90}};
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({0x400000}, code.size(), true, false, code);
  const auto file = elf::ElfFile::from_bytes(writer.write(), "program").value();
  const auto image =
      std::make_shared<guestos::UserImage>(guestos::UserImage{"program", "", file, false});
  const FileOffset offset = file->segments().front().offset;
  guestos::ProcessUpdates updates;
  updates.spaces.push_back(
      {9, Arch::kX86_64, {{GuestVirt{0x400000}, GuestVirt{0x400004}, offset, image}}});
  ASSERT_TRUE(stacks_.adopt(updates, 6));
  for (std::uint64_t pc = 0x400000; pc < 0x400004; ++pc) {
    EXPECT_EQ(stacks_.may_enter_from(9, {pc}, true), pc == 0x400003) << pc;
    EXPECT_TRUE(stacks_.may_enter_from(9, {pc}, false));
  }
  EXPECT_FALSE(stacks_.may_enter_from(9, {0x400004}, false));
  EXPECT_FALSE(stacks_.may_enter_from(10, {0x400003}, false));
}

TEST_F(UserStacksTest, TheOwnerSaysThatCodeHas32Bits) {
  guestos::ProcessUpdates updates;
  const auto library =
      std::make_shared<guestos::UserImage>(guestos::UserImage{"libx.so", "/libx.so", {}, true});
  updates.spaces.push_back(
      {3, Arch::kX86_64, {{{0xf7f0'0000}, {0xf7f0'1000}, FileOffset{kOffset}, library}}});
  ASSERT_TRUE(stacks_.adopt(updates, 6));
  wire::Capture kernel = user_code(0xffffffff81000000);
  kernel.level = PrivilegeLevel::kKernel;
  guestos::TaskAttribution runs_for = attributed(3);
  runs_for.user_arch = Arch::kI386;
  // Entry code's copy of a register that 32-bit code has changed may have an upper half.
  runs_for.user = at(0xffffffff'f7f0'0004);
  const auto stack = stacks_.unwind(kernel, runs_for);
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->frames[0].address.value, kOffset + 4);
  EXPECT_EQ(stack->frames[0].image, 2u);  // the first is the other processes' library
}

std::shared_ptr<const guestos::UserImage> program(const std::string& name, std::size_t megabytes) {
  const std::vector<std::byte> code(megabytes << 20);
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({0x1000}, code.size(), true, false, code);
  auto file = elf::ElfFile::from_bytes(writer.write(), name).value();
  return std::make_shared<guestos::UserImage>(
      guestos::UserImage{name, "/" + name, std::move(file), true});
}

// A guest that runs ever-new programs, all with one library, beside a process that stays.
using UserStacksLong = UserStacksTest;
TEST_F(UserStacksLong, FilesOfProgramsThatAreGoneAreForgotten) {
  UserStacks stacks(writer_, 16u << 20);
  const auto adopt = [&](std::uint64_t id, std::shared_ptr<const guestos::UserImage> own,
                         std::shared_ptr<const guestos::UserImage> shared) {
    guestos::ProcessUpdates updates;
    updates.spaces.push_back(
        {id,
         Arch::kX86_64,
         {{start_of(id), start_of(id) + 0x1000, FileOffset{}, std::move(own)},
          {start_of(id) + 0x1000, start_of(id) + 0x2000, FileOffset{}, std::move(shared)}}});
    ASSERT_TRUE(stacks.adopt(updates, id));
  };
  const auto library = program("libc.so.6", 1);
  constexpr std::uint64_t kLast = 41;
  std::map<std::uint64_t, std::weak_ptr<const elf::ElfFile>> files;
  std::set<std::uint32_t> ids;
  const auto image_of = [&](std::uint64_t id) {
    const auto stack = stacks.unwind(user_code(start_of(id).value), attributed(id));
    return stack ? stack->frames[0].image : 0;
  };
  for (std::uint64_t id = 1; id <= kLast; ++id) {
    auto own = program("p" + std::to_string(id), 1);
    files[id] = own->file;
    adopt(id, std::move(own), library);
    ids.insert(image_of(1));  // it runs now and then
  }
  const auto alive = std::count_if(files.begin(), files.end(),
                                   [](const auto& file) { return !file.second.expired(); });
  EXPECT_LE(alive, 16);
  EXPECT_GE(alive, 8);
  EXPECT_FALSE(files[1].expired());
  EXPECT_FALSE(files[kLast].expired());
  EXPECT_TRUE(files[2].expired());
  // Forgotten files still have their names: the images are as they were written.
  EXPECT_EQ(ids.size(), 1u);
  for (std::uint64_t id = 1; id <= kLast; ++id) ids.insert(image_of(id));
  EXPECT_EQ(ids.size(), kLast);
}

// As memory is used again: an image must not be taken for one that was at its address.
TEST_F(UserStacksTest, AnImageIsNotTakenForAnotherOne) {
  std::set<std::uint32_t> ids;
  for (std::uint64_t id = 10; id < 110; ++id) {
    guestos::ProcessUpdates updates;
    updates.spaces.push_back({id,
                              Arch::kX86_64,
                              {{start_of(id), start_of(id) + 0x1000, FileOffset{},
                                std::make_shared<guestos::UserImage>()}}});
    ASSERT_TRUE(stacks_.adopt(updates, id));
    const auto stack = stacks_.unwind(user_code(start_of(id).value), attributed(id));
    ASSERT_TRUE(stack);
    ids.insert(stack->frames[0].image);
  }
  EXPECT_EQ(ids.size(), 100u);
}

}  // namespace
}  // namespace ringside::session
