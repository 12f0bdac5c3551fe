#include "engines/wave_sampler.h"

#include <gtest/gtest.h>

#include <map>

#include "memory/testing/stopped_ram.h"
#include "wire/recipe_builder.h"

namespace ringside::engines {
namespace {

using memory::testing::StoppedRam;
using wire::Disposition;
using wire::PieceKind;
using wire::RecipeBuilder;

// A guest of two vCPUs in kernel code. An exchange reads `of_exchange` at any address.
class FakeTransport final : public WaveTransport {
 public:
  static constexpr std::byte of_exchange{0x77};

  Result<bool> stop(std::span<wire::Capture> captures) override {
    captures_ = captures;
    pages_.start(ram.ram());
    for (wire::Capture& capture : captures)
      if (capture.disposition != Disposition::kSkipped) {
        capture.disposition = Disposition::kSampled;
        capture.registers.set(arch::x86_64::kCs, 0x10);
        capture.registers.set(arch::x86_64::kRip, 0xffffffff81000000);
        capture.registers.set(arch::x86_64::kRsp, 0x5ff0);
      }
    return true;
  }
  bool ask_more(wire::Capture& capture, bool copies) override {
    if (has_memory[capture.vcpu.value]) memories_[capture.vcpu.value].emplace(ram.tables(), pages_);
    asked[capture.vcpu.value] = copies;
    return finds_late;
  }
  memory::StoppedMemory* direct_memory(VcpuId vcpu) override {
    if (finds_late && exchanges == 0) return nullptr;
    auto& memory = memories_[vcpu.value];
    return memory ? &*memory : nullptr;
  }
  std::size_t read(VcpuId, GuestVirt address, std::size_t size) override {
    read_at.push_back(address.value);
    sizes_.push_back(size);
    return read_at.size() - 1;
  }
  Result<void> exchange(bool last) override {
    ++exchanges;
    resumed = last;
    if (idle_at_exchange == exchanges) captures_[0].disposition = Disposition::kIdle;
    return {};
  }
  std::size_t decode(std::size_t read, std::span<std::byte> destination) const override {
    std::fill_n(destination.begin(), sizes_[read], of_exchange);
    return sizes_[read];
  }
  Pause pause() const override { return {100, 20}; }

  StoppedRam ram;
  std::array<bool, 2> has_memory{true, true};
  bool finds_late = false;
  std::size_t idle_at_exchange = 0;
  std::map<int, bool> asked;
  std::vector<std::uint64_t> read_at;
  std::size_t exchanges = 0;
  bool resumed = false;

 private:
  std::span<wire::Capture> captures_;
  std::vector<std::size_t> sizes_;
  memory::StoppedPages pages_;
  std::array<std::optional<memory::StoppedMemory>, 2> memories_;
};

class Waves : public ::testing::Test {
 protected:
  // Follows a pointer at `pointer`, copies what is there and what is at 0x1000, and emits 5.
  static std::vector<wire::RecipeOp> recipe(std::uint64_t pointer) {
    RecipeBuilder b;
    const auto at = b.slot();
    const auto five = b.slot();
    const auto none = b.label();
    b.set(at, pointer);
    b.load({at}, {at, 0}, 8, none);
    b.mask(at, at, 0xff8);
    b.copy({at, 0}, 16, PieceKind::kSystem, 1);
    b.set(at, 0x1000);
    b.copy({at, 0}, 8, PieceKind::kSystem, 2);
    b.set(five, 5);
    b.emit(five, 3);
    b.bind(none);
    return b.take();
  }
  Tick run(const std::vector<wire::RecipeOp>& recipe) {
    const VcpuPlan plan{true, recipe, {}, {}};
    const std::array plans{plan, plan};
    TickPlan tick;
    tick.vcpus = plans;
    tick.recipe_arch = Arch::kX86_64;
    tick.halted = wants_halted_;
    auto taken = WaveSampler(transport_, Arch::kX86_64, 2).run(tick);
    EXPECT_TRUE(taken);
    return taken ? std::move(*taken) : Tick();
  }
  static std::uint64_t word(const wire::Capture& capture, std::size_t piece) {
    std::uint64_t value = 0;
    const wire::MemoryPiece& of = capture.pieces.at(piece);
    std::memcpy(&value, capture.bytes.data() + of.offset,
                std::min<std::size_t>(of.size, sizeof(value)));
    return value;
  }

  bool wants_halted_ = false;
  FakeTransport transport_;
};

constexpr std::uint64_t kOfExchange = 0x7777777777777777;

TEST_F(Waves, MemoryThatIsReadDirectlyNeedsNoExchangeButTheLast) {
  const Tick tick = run(recipe(0x10));
  EXPECT_EQ(transport_.exchanges, 1u);
  EXPECT_TRUE(transport_.resumed);
  EXPECT_TRUE(transport_.read_at.empty());
  ASSERT_EQ(tick.captures.size(), 2u);
  for (const wire::Capture& capture : tick.captures) {
    ASSERT_EQ(capture.pieces.size(), 3u);
    EXPECT_EQ(capture.pieces[0].address.value, 0x10u);  // 0x8010 & 0xff8
    EXPECT_EQ(word(capture, 0), 0x8010u);
    EXPECT_EQ(word(capture, 1), 0x9000u);
    EXPECT_EQ(word(capture, 2), 5u);
    EXPECT_EQ(capture.pause_ns, 20u);
  }
}

TEST_F(Waves, AVcpuWithoutDirectMemoryIsExchanged) {
  transport_.has_memory[1] = false;
  const Tick tick = run(recipe(0x10));
  EXPECT_EQ(transport_.exchanges, 2u);  // its load, and its copies with the resume
  EXPECT_EQ(word(tick.captures.at(0), 0), 0x8010u);
  EXPECT_EQ(word(tick.captures.at(1), 0), kOfExchange);
  EXPECT_EQ(transport_.read_at, (std::vector<std::uint64_t>{0x10, 0x770, 0x1000}));
}

// Page 4 of the address space is no RAM, and page 3 is not mapped.
TEST_F(Waves, WhatIsNotCertainIsExchangedAndPiecesKeepTheirOrder) {
  const Tick tick = run(recipe(0x4000));
  EXPECT_EQ(transport_.exchanges, 2u);
  for (const wire::Capture& capture : tick.captures) {
    ASSERT_EQ(capture.pieces.size(), 3u);
    EXPECT_EQ(capture.pieces[0].address.value, 0x770u);
    EXPECT_EQ(word(capture, 0), 0x8770u) << "a load that was exchanged makes no copy so";
    EXPECT_EQ(word(capture, 2), 5u);
  }
  RecipeBuilder b;
  const auto at = b.slot();
  for (const std::uint64_t place : {0x1000, 0x4000, 0x1000, 0x3000}) {
    b.set(at, place);
    b.copy({at, 0}, 8, PieceKind::kSystem, static_cast<std::uint16_t>(place));
  }
  b.emit(at, 9);
  transport_.exchanges = 0;
  transport_.read_at.clear();
  const Tick mixed = run(b.take());
  EXPECT_EQ(transport_.exchanges, 1u);
  for (const wire::Capture& capture : mixed.captures) {
    ASSERT_EQ(capture.pieces.size(), 5u);
    EXPECT_EQ(word(capture, 0), 0x9000u);
    EXPECT_EQ(word(capture, 1), kOfExchange);
    EXPECT_EQ(word(capture, 2), kOfExchange) << "behind one that is exchanged all are";
    EXPECT_EQ(word(capture, 4), 0x3000u);
    EXPECT_EQ(capture.pieces[4].tag, 9);
  }
}

TEST_F(Waves, WhatIsNotMappedIsNotAskedFor) {
  const Tick tick = run(recipe(0x3000));
  EXPECT_EQ(transport_.exchanges, 1u);
  EXPECT_TRUE(tick.captures.at(0).pieces.empty()) << "the load goes to its label";
}

TEST_F(Waves, MemoryThatTheFirstExchangeFindsIsReadDirectlyAfterIt) {
  transport_.finds_late = true;
  const Tick tick = run(recipe(0x10));
  EXPECT_EQ(transport_.exchanges, 2u);
  EXPECT_TRUE(transport_.read_at.empty());
  EXPECT_EQ(word(tick.captures.at(1), 0), 0x8010u);
}

TEST_F(Waves, AVcpuThatProvesIdleLosesWhatWasCopied) {
  transport_.idle_at_exchange = 1;
  const Tick tick = run(recipe(0x10));
  EXPECT_EQ(tick.captures.at(0).disposition, Disposition::kIdle);
  EXPECT_TRUE(tick.captures.at(0).pieces.empty());
  EXPECT_TRUE(tick.captures.at(0).bytes.empty());
  EXPECT_EQ(tick.captures.at(1).pieces.size(), 3u);
}

// The transport finds that one is halted in the exchange that carries its loads.
TEST_F(Waves, AHaltedVcpuIsSampledWhereThatIsWanted) {
  for (const bool wants_halted : {false, true}) {
    transport_.has_memory[0] = false;
    transport_.exchanges = 0;
    transport_.idle_at_exchange = 1;
    wants_halted_ = wants_halted;
    const Tick tick = run(recipe(0x10));
    const wire::Capture& halted = tick.captures.at(0);
    EXPECT_EQ(halted.disposition, wants_halted ? Disposition::kSampled : Disposition::kIdle);
    EXPECT_EQ(halted.pieces.size(), wants_halted ? 3u : 0u);
    EXPECT_EQ(tick.captures.at(1).disposition, Disposition::kSampled);
  }
}

}  // namespace
}  // namespace ringside::engines
