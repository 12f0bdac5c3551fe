#include "guestos/emerald_adapter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "guestos/emerald/saved_registers.h"
#include "guestos/testing/fake_guest_memory.h"
#include "guestos/testing/program_file.h"

namespace ringside::guestos {
namespace {

using testing::FakeGuestMemory;
namespace x86 = arch::x86_64;

constexpr std::uint64_t kPage = 0xffff'ff7f'ffff'e000;
constexpr std::uint64_t kSaved = 0xffff'8000'0001'3f60;
const std::string kCompute(300, '\x11');
const std::string kServer(300, '\x22');
const std::string kFrames(40, '\x33');

// A page as Emerald's kernel writes it (libraries/kernel_user_link/src/process.rs), field by field.
struct Page {
  std::uint64_t pid = 7;
  std::uint64_t image_base = 0x400000;
  std::uint64_t image_size = 0x3a8;
  std::uint64_t program_headers_offset = 0x40;
  std::uint64_t eh_frame_address = 0x4002e8;
  std::uint64_t eh_frame_size = 40;
  std::uint64_t text_address = 0x400180;
  std::uint64_t text_size = 300;
  std::uint64_t user_registers = 0;
};

struct Guest {
  FakeGuestMemory memory;

  void put_process(std::uint64_t root, const Page& page, const std::string& text) {
    memory.put_value(root, kPage, page);
    memory.put(root, page.text_address, as_bytes(text));
    if (page.eh_frame_size != 0) memory.put(root, page.eh_frame_address, as_bytes(kFrames));
  }
};

wire::Capture capture_at(std::uint64_t root, PrivilegeLevel level = PrivilegeLevel::kUser) {
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.level = level;
  capture.registers.set(x86::kCr3, root);
  capture.registers.set(x86::kRsp, level == PrivilegeLevel::kUser ? 0x7fff0000 : kSaved - 0x100);
  return capture;
}

void add_piece(wire::Capture& capture, std::uint64_t at, Bytes bytes) {
  capture.pieces.push_back(
      {GuestVirt{at}, wire::PieceKind::kSystem, static_cast<std::uint32_t>(bytes.size()),
       static_cast<std::uint32_t>(capture.bytes.size()), static_cast<std::uint32_t>(bytes.size())});
  capture.bytes.insert(capture.bytes.end(), bytes.begin(), bytes.end());
}

class EmeraldTest : public ::testing::Test {
 protected:
  EmeraldTest() {
    testing::write_file(folder_.path / "compute", testing::program_bytes(0x400180, kCompute));
    options_.programs = ProgramFiles::open(folder_.path).value();
  }

  TaskAttribution attributed(EmeraldAdapter& adapter, const wire::Capture& capture) {
    updates_ = {};
    auto attribution = adapter.attribute(capture, guest_.memory, updates_);
    EXPECT_TRUE(attribution.has_value());
    return *attribution;
  }

  testing::TemporaryFolder folder_;
  AdapterOptions options_;
  Guest guest_;
  ProcessUpdates updates_;
};

TEST_F(EmeraldTest, TwoProcessesOfAProgramHaveBothItsNameAndFile) {
  guest_.put_process(0x1000, {.pid = 1}, kCompute);
  guest_.put_process(0x2000, {.pid = 2}, kCompute);
  EmeraldAdapter adapter(options_, true);
  const TaskAttribution first = attributed(adapter, capture_at(0x1000));
  EXPECT_EQ(first.pid, 1u);
  ASSERT_EQ(updates_.spaces.size(), 1u);
  EXPECT_EQ(updates_.spaces[0].id, first.address_space);
  EXPECT_EQ(updates_.spaces[0].arch, Arch::kX86_64);
  ASSERT_EQ(updates_.spaces[0].mappings.size(), 1u);
  const UserMapping mapping = updates_.spaces[0].mappings[0];
  EXPECT_EQ(mapping.start, GuestVirt{0x400180});
  EXPECT_EQ(mapping.end, GuestVirt{0x400180 + 300});
  EXPECT_EQ(mapping.image->name, "compute");
  EXPECT_EQ(mapping.image->file->name(), (folder_.path / "compute").string());
  EXPECT_FALSE(mapping.image->from_guest);
  ASSERT_EQ(updates_.names.size(), 1u);
  EXPECT_EQ(updates_.names[0].name, "compute");

  const TaskAttribution second = attributed(adapter, capture_at(0x2000));
  EXPECT_EQ(second.pid, 2u);
  EXPECT_NE(second.address_space, first.address_space);
  ASSERT_EQ(updates_.spaces.size(), 1u);
  EXPECT_EQ(updates_.spaces[0].mappings[0].image, mapping.image);
  EXPECT_EQ(updates_.names[0].name, "compute");
}

TEST_F(EmeraldTest, WhereThePageDoesNotReportTheRegistersUnwindingDoes) {
  guest_.put_process(0x1000, {.pid = 1}, kCompute);
  guest_.put_process(0x2000, {.pid = 2, .user_registers = kSaved}, kCompute);
  EmeraldAdapter adapter(options_, true);
  const auto unwinds = [&](std::uint64_t root, PrivilegeLevel level) {
    return attributed(adapter, capture_at(root, level)).finds_user_by_unwinding;
  };
  EXPECT_TRUE(unwinds(0x1000, PrivilegeLevel::kKernel));
  EXPECT_FALSE(unwinds(0x1000, PrivilegeLevel::kUser));
  EXPECT_FALSE(unwinds(0x2000, PrivilegeLevel::kKernel));
}

TEST_F(EmeraldTest, AProcessIsReadOnce) {
  guest_.put_process(0x1000, {}, kCompute);
  EmeraldAdapter adapter(options_, true);
  const TaskAttribution first = attributed(adapter, capture_at(0x1000));
  const std::size_t before = guest_.memory.bytes_read;
  // With a PCID.
  EXPECT_EQ(attributed(adapter, capture_at(0x1005)).address_space, first.address_space);
  EXPECT_TRUE(updates_.empty());
  EXPECT_LE(guest_.memory.bytes_read - before, emerald::kMetadataSize);
}

TEST_F(EmeraldTest, WhatTheCaptureHasCopiedCounts) {
  guest_.put_process(0x1000, {.pid = 1}, kCompute);
  EmeraldAdapter adapter(options_, true);
  wire::Capture capture = capture_at(0x1000);
  const Page at_the_time{.pid = 9};
  add_piece(capture, kPage, std::as_bytes(std::span(&at_the_time, 1)));
  capture.pieces.back().tag = emerald::kMetadataTag;
  EXPECT_EQ(attributed(adapter, capture).pid, 9u);
  // The page was not there.
  capture = capture_at(0x1000);
  add_piece(capture, kPage, {});
  capture.pieces.back().tag = emerald::kMetadataTag;
  EXPECT_EQ(attributed(adapter, capture).pid, std::nullopt);
}

TEST_F(EmeraldTest, AfterExecItIsAnotherAddressSpace) {
  guest_.put_process(0x1000, {}, kServer);
  EmeraldAdapter adapter(options_, true);
  const TaskAttribution before = attributed(adapter, capture_at(0x1000));
  EXPECT_EQ(updates_.names.at(0).name, "<unknown>");
  guest_.put_process(0x1000, {.image_size = 0x3b0}, kCompute);
  const TaskAttribution after = attributed(adapter, capture_at(0x1000));
  EXPECT_EQ(after.pid, before.pid);
  EXPECT_NE(after.address_space, before.address_space);
  EXPECT_EQ(updates_.names.at(0).name, "compute");
}

TEST_F(EmeraldTest, AProgramWithoutAFileIsReadFromTheGuest) {
  guest_.put_process(0x1000, {.pid = 1}, kServer);
  guest_.put_process(0x2000, {.pid = 2}, kServer);
  EmeraldAdapter adapter({}, true);
  (void)attributed(adapter, capture_at(0x1000));
  const auto image = updates_.spaces.at(0).mappings.at(0).image;
  EXPECT_EQ(image->name, "<unknown>");
  EXPECT_TRUE(image->from_guest);
  ASSERT_NE(image->file, nullptr);
  const auto text = image->file->section(".text");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->address, ImageAddr{0x400180});
  EXPECT_TRUE(std::ranges::equal(text->bytes, as_bytes(kServer)));
  const auto frames = image->file->section(".eh_frame");
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->address, ImageAddr{0x4002e8});
  EXPECT_TRUE(std::ranges::equal(frames->bytes, as_bytes(kFrames)));
  EXPECT_TRUE(image->file->is_code({0x400180}));
  (void)attributed(adapter, capture_at(0x2000));
  EXPECT_EQ(updates_.spaces.at(0).mappings.at(0).image, image);
}

TEST_F(EmeraldTest, TextThatCannotBeReadYetIsReadLater) {
  guest_.put_process(0x1000, {.image_size = 0x2000, .text_address = 0x400f00}, kCompute);
  guest_.memory.remove_page(0x1000, 0x401000);
  EmeraldAdapter adapter(options_, true);
  EXPECT_EQ(attributed(adapter, capture_at(0x1000)).pid, 7u);
  EXPECT_TRUE(updates_.empty());
  guest_.put_process(0x1000, {.image_size = 0x2000, .text_address = 0x400f00}, kCompute);
  EXPECT_NE(attributed(adapter, capture_at(0x1000)).address_space, 0u);
  EXPECT_EQ(updates_.names.at(0).name, "compute");
  EXPECT_EQ(updates_.spaces.at(0).mappings.at(0).start, GuestVirt{0x400f00});
}

TEST_F(EmeraldTest, TextThatIsNeverThereIsGivenUp) {
  const Page page{.image_size = 1 << 30,
                  .eh_frame_address = 0,
                  .eh_frame_size = 0,
                  .text_size = (1 << 30) - 0x180};
  guest_.memory.put_value(0x1000, kPage, page);
  const Page small{.pid = 8};
  guest_.memory.put_value(0x2000, kPage, small);
  EmeraldAdapter adapter({}, true);
  // Too much to be read at all.
  EXPECT_NE(attributed(adapter, capture_at(0x1000)).address_space, 0u);
  EXPECT_EQ(updates_.spaces.at(0).mappings.at(0).image->file, nullptr);
  unsigned tries = 0;
  while (attributed(adapter, capture_at(0x2000)).address_space == 0 && tries < 1000) ++tries;
  EXPECT_LT(tries, 100u);
  EXPECT_EQ(updates_.names.at(0).name, "<unknown>");
  EXPECT_EQ(updates_.spaces.at(0).mappings.at(0).image->file, nullptr);
  EXPECT_LT(guest_.memory.bytes_read, 100u * 1024);
}

TEST_F(EmeraldTest, ItIsFoundOut) {
  guest_.put_process(0x2000, {}, kCompute);
  EmeraldAdapter adapter(options_, false);
  EXPECT_EQ(adapter.name(), "generic");
  EXPECT_LE(adapter.recipe(VcpuId{0}, {}).size(),
            GenericAdapter(Arch::kX86_64, options_).recipe(VcpuId{0}, {}).size());
  EXPECT_EQ(attributed(adapter, capture_at(0x1000, PrivilegeLevel::kKernel)).pid, std::nullopt);
  EXPECT_EQ(attributed(adapter, capture_at(0x2000)).pid, 7u);
  EXPECT_EQ(adapter.name(), "emerald");
  EXPECT_TRUE(updates_.new_recipes);
  EXPECT_EQ(attributed(adapter, capture_at(0x2000)).pid, 7u);
  EXPECT_FALSE(updates_.new_recipes);
  // A thread of the kernel has no page.
  EXPECT_EQ(attributed(adapter, capture_at(0x1000, PrivilegeLevel::kKernel)).address_space, 0u);
}

TEST_F(EmeraldTest, WhereThereAreNoPagesTheSearchEnds) {
  EmeraldAdapter adapter({}, false);
  adapter.count_unnamed_processes();
  guest_.memory.put_value(0, kPage, std::uint64_t{0});  // something else is there
  for (std::uint64_t i = 0; i < 1000; ++i)
    (void)attributed(adapter, capture_at(0x1000 * (i % 400)));
  EXPECT_EQ(adapter.name(), "generic");
  EXPECT_LE(guest_.memory.reads, 256u);
  EXPECT_NE(attributed(adapter, capture_at(0x1000)).address_space, 0u);
}

// Their pids would be taken for the pages'.
TEST_F(EmeraldTest, WhileThePageMayComeAProcessIsNotCounted) {
  EmeraldAdapter adapter({}, false);
  adapter.count_unnamed_processes();
  guest_.memory.has_physical = false;  // what is read may be another process's
  for (int probe = 0; probe < 3; ++probe)
    EXPECT_EQ(attributed(adapter, capture_at(0x1000)).pid, std::nullopt) << probe;
  EXPECT_EQ(attributed(adapter, capture_at(0x1000)).pid, 1u);
  guest_.memory.has_physical = true;
  EXPECT_EQ(attributed(adapter, capture_at(0x2000)).pid, 2u);
}

TEST_F(EmeraldTest, AKernelWithoutPagesHasProgramsByTheirCode) {
  testing::write_file(folder_.path / "server", testing::program_bytes(0x400180, kServer));
  options_.programs = ProgramFiles::open(folder_.path).value();
  guest_.memory.put(0x1000, 0x400180, as_bytes(kServer));
  EmeraldAdapter adapter(options_, false);
  wire::Capture capture = capture_at(0x1000);
  capture.registers.set(x86::kRip, 0x400190);
  EXPECT_EQ(attributed(adapter, capture).pid, 1u);
  EXPECT_EQ(updates_.names.at(0).name, "server");
  EXPECT_FALSE(adapter.recipe(VcpuId{0}, {}).empty());
}

TEST(EmeraldMetadata, DistinguishesAProcessFromAnythingElse) {
  const auto plausible = [](const std::function<void(Page&)>& change) {
    Page page;
    change(page);
    return emerald::parse_metadata(std::as_bytes(std::span(&page, 1))).has_value();
  };
  EXPECT_TRUE(plausible([](Page&) {}));
  EXPECT_TRUE(plausible([](Page& page) { page.pid = 0; }));
  EXPECT_TRUE(plausible([](Page& page) { page.eh_frame_address = page.eh_frame_size = 0; }));
  EXPECT_TRUE(plausible([](Page& page) { page.text_size = 0x3a8 - 0x180; }));
  EXPECT_FALSE(plausible([](Page& page) { page = {0, 0, 0, 0, 0, 0, 0, 0, 0}; }));
  EXPECT_FALSE(plausible([](Page& page) { page.pid = std::uint64_t{1} << 32; }));
  EXPECT_FALSE(plausible([](Page& page) { page.image_size = 0; }));
  EXPECT_FALSE(plausible([](Page& page) { page.image_size = std::uint64_t{1} << 40; }));
  EXPECT_FALSE(plausible([](Page& page) { page.program_headers_offset = 0x3a8; }));
  EXPECT_FALSE(plausible([](Page& page) { page.text_size = 0; }));
  EXPECT_FALSE(plausible([](Page& page) { page.text_size = 0x3a8 - 0x180 + 1; }));
  EXPECT_FALSE(plausible([](Page& page) { page.text_address = 0x3fffff; }));
  EXPECT_FALSE(plausible([](Page& page) { page.eh_frame_size = ~std::uint64_t{0}; }));
  EXPECT_FALSE(plausible([](Page& page) { page.eh_frame_address = 0x500000; }));
  EXPECT_FALSE(plausible([](Page& page) {
    page.image_base += 0x7fff'ffff'f000;
    page.text_address += 0x7fff'ffff'f000;
    page.eh_frame_address += 0x7fff'ffff'f000;
  }));
  const Page page;
  EXPECT_FALSE(emerald::parse_metadata(std::as_bytes(std::span(&page, 1)).first(63)));
  EXPECT_TRUE(emerald::parse_metadata(std::as_bytes(std::span(&page, 1)).first(64)));
}

// r15 … ss, each its own number.
std::array<std::uint64_t, 20> saved_words() {
  std::array<std::uint64_t, 20> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x100 + i;
  words[16] = 0x23;
  return words;
}

std::optional<arch::Registers> user_registers(std::uint64_t rsp,
                                              const std::array<std::uint64_t, 20>& words) {
  wire::Capture capture = capture_at(0x1000, PrivilegeLevel::kKernel);
  capture.registers.set(x86::kRsp, rsp);
  add_piece(capture, kSaved, std::as_bytes(std::span(words)));
  return emerald::saved_registers(capture, GuestVirt{kSaved});
}

TEST(EmeraldSavedRegisters, AreTheUsers) {
  const auto user = user_registers(kSaved, saved_words());
  ASSERT_TRUE(user);
  EXPECT_EQ(user->get(x86::kR15), 0x100u);
  EXPECT_EQ(user->get(x86::kRbp), 0x104u);
  EXPECT_EQ(user->get(x86::kRbx), 0x105u);
  EXPECT_EQ(user->get(x86::kRax), 0x10au);
  EXPECT_EQ(user->get(x86::kRdi), 0x10eu);
  EXPECT_EQ(user->get(x86::kRip), 0x10fu);
  EXPECT_EQ(user->get(x86::kRsp), 0x112u);
  EXPECT_TRUE(user_registers(0xffff'8000'0009'0000, saved_words()));  // on the interrupt stack
}

TEST(EmeraldSavedRegisters, AreNotTakenHalfWayThroughTheEntry) {
  EXPECT_FALSE(user_registers(kSaved + 8, saved_words()));
  EXPECT_FALSE(user_registers(kSaved + 160, saved_words()));
  EXPECT_TRUE(user_registers(kSaved + 168, saved_words()));
  EXPECT_FALSE(user_registers(0x7fff0000, saved_words()));
}

TEST(EmeraldSavedRegisters, AreNoneWhereTheyAreNotAUsers) {
  auto words = saved_words();
  words[16] = 8;
  EXPECT_FALSE(user_registers(kSaved, words));
  words = saved_words();
  words[15] = 0xffff'ffff'8010'0000;
  EXPECT_FALSE(user_registers(kSaved, words));
  wire::Capture capture = capture_at(0x1000, PrivilegeLevel::kKernel);
  EXPECT_FALSE(emerald::saved_registers(capture, GuestVirt{kSaved}));
  EXPECT_FALSE(emerald::saved_registers(capture, GuestVirt{}));
}

struct Copy {
  std::uint64_t address;
  wire::PieceKind why;
  bool operator==(const Copy&) const = default;
};

std::vector<Copy> copies(std::uint64_t cs, std::uint64_t saved, std::uint64_t user_sp) {
  EmeraldAdapter adapter({}, true);
  arch::Registers registers;
  registers.set(x86::kCs, cs);
  registers.set(x86::kRsp, kSaved - 0x100);
  const auto recipe = adapter.recipe(VcpuId{0}, {});
  wire::RecipeRun run(recipe, registers, {});
  std::vector<Copy> copied;
  while (const auto request = run.next()) {
    if (!request->is_load())
      copied.push_back({request->address.value, request->why});
    else if (request->address.value == kPage + 0x40)
      run.loaded(saved);
    else
      run.loaded(request->address.value == kSaved + 144 ? std::optional(user_sp) : std::nullopt);
  }
  return copied;
}

TEST(EmeraldRecipe, CopiesThePageTheSavedRegistersAndTheUsersStack) {
  const Copy page{kPage, wire::PieceKind::kSystem};
  const Copy saved{kSaved, wire::PieceKind::kSystem};
  const Copy user{0x7ff0, wire::PieceKind::kUserStack};
  const Copy kernel{kSaved - 0x100, wire::PieceKind::kCurrentStack};
  EXPECT_EQ(copies(8, kSaved, 0x7ff0), (std::vector<Copy>{page, saved, user, kernel}));
  EXPECT_EQ(copies(8, 0, 0x7ff0), (std::vector<Copy>{page, kernel}));
  EXPECT_EQ(copies(8, 0x400000, 0x7ff0), (std::vector<Copy>{page, kernel}));
  EXPECT_EQ(copies(8, kSaved, kSaved), (std::vector<Copy>{page, saved, kernel}));
  const Copy own{kSaved - 0x100, wire::PieceKind::kUserStack};  // whatever rsp is
  EXPECT_EQ(copies(0x23, kSaved, 0x7ff0), (std::vector<Copy>{page, own}));
}

}  // namespace
}  // namespace ringside::guestos
