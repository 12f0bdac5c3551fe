#include "memory/ram_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "memory/host_mappings.h"
#include "memory/testing/fake_physical_memory.h"

namespace ringside::memory {
namespace {

constexpr std::size_t kBytes = 2u << 20;

TEST(HostMappings, CandidatesByFit) {
  const auto mappings = parse_mappings(
      "7f0000000000-7f0040000000 rw-s 00001000 00:01 12                         /memfd:x "
      "(deleted)\n"
      "7e0000000000-7e0020000000 rw-p 00000000 00:00 0 \n"
      "7d0000000000-7d0020000000 ---p 00000000 00:00 0 \n"
      "7c0000000000-7c001ffff000 rw-p 00000000 00:00 0\nnonsense\n-\n7-6 rw-p 0 0 0\n");
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_TRUE(mappings[0].shared);
  EXPECT_EQ(mappings[0].file_offset, 0x1000u);
  EXPECT_EQ(mappings[0].inode, 12u);
  EXPECT_EQ(mappings[0].path, "/memfd:x (deleted)");
  const auto fitting = block_candidates(mappings, 0x20000000);
  ASSERT_EQ(fitting.size(), 2u);
  EXPECT_EQ(fitting[0].start, 0x7e0000000000u);
  EXPECT_EQ(fitting[1].start, 0x7f0000000000u);
  EXPECT_EQ(find_mapping(mappings, 0x7e0000001000, 0x1ffff000)->start, 0x7e0000000000u);
  EXPECT_EQ(find_mapping(mappings, 0x7e0000001000, 0x20000000), nullptr);
  EXPECT_EQ(find_mapping(mappings, 0x7d0000000000, 1), nullptr);
}

// A child stands for QEMU: each word of its "RAM" holds its own offset.
TEST(ProcessBlock, ReadsAnotherProcess) {
  void* const block =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  const pid_t child = ::fork();
  if (child == 0) {
    auto* const words = static_cast<std::uint64_t*>(block);
    for (std::size_t i = 0; i < kBytes / 8; ++i) words[i] = 8 * i;
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, WUNTRACED);
  std::ifstream file("/proc/" + std::to_string(child) + "/maps");
  const auto mappings = parse_mappings(std::string(std::istreambuf_iterator<char>(file), {}));
  const auto address = reinterpret_cast<std::uint64_t>(block);
  EXPECT_NE(find_mapping(mappings, address, kBytes), nullptr);
  ProcessBlock reader(child, address);
  EXPECT_EQ(*reader.read_value<std::uint64_t>(RamOffset{0x123458}), 0x123458u);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(reader.read_up_to(RamOffset{0}, bytes).error().code, ErrorCode::kClosed);
  ::munmap(block, kBytes);
}

// The third page may not be read.
TEST(ProcessBlock, PagesEndAtTheFirstThatCannotBeRead) {
  auto* const block = static_cast<std::byte*>(
      ::mmap(nullptr, 5 * kRamPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(block, MAP_FAILED);
  for (std::size_t page = 0; page < 5; ++page) block[page * kRamPage] = std::byte(page + 1);
  ASSERT_EQ(::munmap(block + 2 * kRamPage, kRamPage), 0);
  ProcessBlock reader(::getpid(), reinterpret_cast<std::uint64_t>(block));
  const auto page = [](std::uint64_t number) { return RamOffset{number * kRamPage}; };
  std::vector<std::byte> bytes(4 * kRamPage);
  const std::array readable{page(4), page(0), page(3), page(1)};
  EXPECT_EQ(*reader.read_pages(readable, bytes), 4u);
  EXPECT_EQ(bytes[0], std::byte{5});
  EXPECT_EQ(bytes[kRamPage], std::byte{1});
  EXPECT_EQ(bytes[2 * kRamPage], std::byte{4});
  EXPECT_EQ(bytes[3 * kRamPage], std::byte{2});
  const std::array broken{page(1), page(2), page(0)};
  EXPECT_EQ(*reader.read_pages(broken, bytes), 1u);
  // More than one call of the system takes.
  std::vector<RamOffset> many(2500, page(3));
  many.back() = page(4);
  std::vector<std::byte> all(many.size() * kRamPage);
  EXPECT_EQ(*reader.read_pages(many, all), many.size());
  EXPECT_EQ(all[(many.size() - 1) * kRamPage], std::byte{5});
  ::munmap(block, 5 * kRamPage);
}

UniqueFd file_of_words() {
  UniqueFd file(::memfd_create("ringside-test", MFD_CLOEXEC));
  for (std::uint64_t offset = 0; offset < 4096; offset += 8)
    EXPECT_EQ(::pwrite(file.get(), &offset, 8, static_cast<off_t>(offset)), 8);
  return file;
}

TEST(FileBlock, EndsWithItsFile) {
  FileBlock reader(file_of_words(), 0x800);
  EXPECT_EQ(*reader.read_value<std::uint64_t>(RamOffset{0x10}), 0x810u);
  std::array<std::byte, 64> bytes{};
  EXPECT_EQ(*reader.read_up_to(RamOffset{0x7f0}, bytes), 16u);
  EXPECT_EQ(*reader.read_up_to(RamOffset{0x1000}, bytes), 0u);
  FileBlock closed(UniqueFd(), 0);
  EXPECT_EQ(closed.read_up_to(RamOffset{0}, bytes).error().code, ErrorCode::kIo);
}

TEST(RamMemory, BlocksWithoutAReaderAreReadByTheRest) {
  const std::vector<RamRange> ranges{{GuestPhys{0x1000}, 0x1000, 0, 0},
                                     {GuestPhys{0x2000}, 0x1000, 0x100, 1},
                                     {GuestPhys{0x8000}, 0x1000, 0, 0}};
  testing::FakePhysicalMemory slow(0x10000);
  slow.put(GuestPhys{0x2008}, std::uint64_t{0x510});
  const auto blocks = [] {
    std::vector<std::unique_ptr<RamBlockReader>> readers(2);
    readers[0] = std::make_unique<FileBlock>(file_of_words(), 0);
    return readers;
  };
  RamMemory with_rest(ranges, blocks(), &slow);
  EXPECT_EQ(*with_rest.read_value<std::uint64_t>(GuestPhys{0x1018}), 0x18u);
  EXPECT_EQ(*with_rest.read_value<std::uint64_t>(GuestPhys{0x2008}), 0x510u);
  EXPECT_EQ(*with_rest.read_value<std::uint64_t>(GuestPhys{0x8020}), 0x20u);
  std::vector<std::byte> bytes(0x4000);
  EXPECT_EQ(*with_rest.read_up_to(GuestPhys{0x1000}, bytes), 0x2000u);  // across two blocks
  RamMemory alone(ranges, blocks(), nullptr);
  EXPECT_EQ(*alone.read_up_to(GuestPhys{0x1000}, bytes), 0x1000u);
  EXPECT_EQ(*alone.read_up_to(GuestPhys{0x2000}, bytes), 0u);
}

TEST(RamMemory, PagesOfBlocksInAnyOrder) {
  const std::vector<RamRange> ranges{{GuestPhys{0x1000}, 0x1000, 0, 0},
                                     {GuestPhys{0x2000}, 0x1000, 0, 1},
                                     {GuestPhys{0x3000}, 0x1000, 0, 2},
                                     {GuestPhys{0x4000}, 0x800, 0, 0}};
  std::vector<std::unique_ptr<RamBlockReader>> readers(3);
  readers[0] = std::make_unique<FileBlock>(file_of_words(), 0);
  readers[2] = std::make_unique<FileBlock>(file_of_words(), 0);
  testing::FakePhysicalMemory rest(0x10000);
  RamMemory memory(ranges, std::move(readers), &rest);
  std::vector<std::byte> bytes(3 * kRamPage);
  const std::array both{GuestPhys{0x3000}, GuestPhys{0x1000}, GuestPhys{0x3000}};
  EXPECT_EQ(*memory.read_pages(both, bytes), 3u);
  EXPECT_EQ(bytes[2 * kRamPage + 8], std::byte{8});
  EXPECT_FALSE(memory.take_missed());
  const std::array without_a_reader{GuestPhys{0x1000}, GuestPhys{0x2000}};
  EXPECT_EQ(*memory.read_pages(without_a_reader, bytes), 1u);
  EXPECT_EQ(rest.reads, 0u);
  EXPECT_TRUE(memory.take_missed());
  const std::array half_a_page{GuestPhys{0x4000}};
  EXPECT_EQ(*memory.read_pages(half_a_page, bytes), 0u);
  const std::array nowhere{GuestPhys{0x9000}};
  EXPECT_EQ(*memory.read_pages(nowhere, bytes), 0u);
}

}  // namespace
}  // namespace ringside::memory
