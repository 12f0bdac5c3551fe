#include "session/kernel/firmware_code.h"

#include <gtest/gtest.h>

#include <array>

#include "arch/riscv64.h"
#include "guestos/firmware_recipe.h"
#include "wire/firmware_frame.h"
#include "wire/recipe.h"

namespace ringside::session {
namespace {

using namespace arch::riscv64;
namespace saved = wire::firmware_frame;

constexpr std::uint64_t kStack = 0x80040c00;
constexpr std::size_t kStackWords = 64;
constexpr std::size_t kFrameAt = 20;  // in words
constexpr std::uint64_t kPcOfCall = 0xffffffff8000b0c4;
// SPIE and MPP: supervisor (The RISC-V Instruction Set Manual, volume II, "mstatus").
constexpr std::uint64_t kStatus = 0xa'0000'0800 | 1u << 5;

// OpenSBI keeps x0 to x31, mepc, mstatus.
struct Firmware {
  arch::Registers registers;
  std::array<std::uint64_t, kStackWords> stack{};

  Firmware() {
    registers.set(kPc, 0x8000'5432);
    registers.set(kSp, kStack);
    registers.set(kPriv, 3);
    registers.set(kSatp, std::uint64_t{9} << 60 | 0x81234);
    registers.set(kSepc, kPcOfCall);
    registers.set(kSstatus, kStatus);
    for (std::size_t reg = 0; reg < 32; ++reg) stack[kFrameAt + reg] = reg * 0x1111;
    stack[kFrameAt + 32] = kPcOfCall;
    stack[kFrameAt + 33] = kStatus;
  }
  [[nodiscard]] wire::Capture capture(wire::PieceKind why = wire::PieceKind::kCurrentStack,
                                      std::uint16_t tag = 0) const {
    wire::Capture capture;
    capture.arch = Arch::kRiscv64;
    capture.level = PrivilegeLevel::kFirmware;
    capture.registers = registers;
    const auto bytes = std::as_bytes(std::span(stack));
    if (tag == 0) {
      capture.bytes.assign(bytes.begin(), bytes.end());
      capture.pieces.push_back({GuestVirt{kStack}, why, sizeof(stack), 0, sizeof(stack)});
    } else {
      const auto frame = bytes.subspan(kFrameAt * 8, saved::kBytes);
      capture.bytes.assign(frame.begin(), frame.end());
      capture.pieces.push_back(
          {GuestVirt{kStack + kFrameAt * 8}, why, saved::kBytes, 0, saved::kBytes, tag});
    }
    return capture;
  }
};

void expect_interrupted(const wire::Capture& capture, PrivilegeLevel level) {
  EXPECT_EQ(capture.level, level);
  EXPECT_EQ(capture.registers.get(kPc), kPcOfCall);
  EXPECT_EQ(capture.registers.get(kSp), 2 * 0x1111u);
  EXPECT_EQ(capture.registers.get(kT6), 31 * 0x1111u);
  EXPECT_EQ(capture.registers.get(kSatp), std::uint64_t{9} << 60 | 0x81234);
  EXPECT_FALSE(capture.registers.has(kSepc));  // of the supervisor
  ASSERT_TRUE(capture.firmware);
  EXPECT_EQ(capture.firmware->pc.value, 0x8000'5432u);
  EXPECT_EQ(capture.firmware->frame, GuestVirt{kStack + kFrameAt * 8});
}

TEST(FirmwareCode, AFrameOnItsStackIsTheCallers) {
  wire::Capture capture = Firmware().capture();
  ASSERT_TRUE(enter_interrupted_code(capture, true));
  expect_interrupted(capture, PrivilegeLevel::kKernel);
  EXPECT_TRUE(capture.pieces.empty());  // firmware's stack is not the kernel's
}

TEST(FirmwareCode, ACopiedFrameLeavesTheCopiesOfTheCallersMemory) {
  wire::Capture capture = Firmware().capture(wire::PieceKind::kSystem, saved::kTag);
  ASSERT_TRUE(enter_interrupted_code(capture, true));
  expect_interrupted(capture, PrivilegeLevel::kKernel);
  EXPECT_EQ(capture.pieces.size(), 1u);
}

TEST(FirmwareCode, UserCodeIsInterruptedToo) {
  Firmware firmware;
  const std::uint64_t status = kStatus & ~std::uint64_t{3 << 11};
  firmware.registers.set(kSstatus, status);
  firmware.stack[kFrameAt + 33] = status;
  wire::Capture capture = firmware.capture();
  EXPECT_FALSE(enter_interrupted_code(capture, false));
  EXPECT_EQ(capture.level, PrivilegeLevel::kFirmware);
  ASSERT_TRUE(enter_interrupted_code(capture, true));
  expect_interrupted(capture, PrivilegeLevel::kUser);
}

// At the first instruction; mtvec has the mode in its low bits.
TEST(FirmwareCode, AtItsEntryTheRegistersAreTheCallers) {
  Firmware firmware;
  firmware.registers.set(kStvec, 0x8000'5430 | 1);
  firmware.registers.set(kTp, 0x1234);
  firmware.stack = {};
  wire::Capture capture = firmware.capture();
  ASSERT_TRUE(enter_interrupted_code(capture, true));  // two bytes behind it
  EXPECT_FALSE(capture.registers.has(kSp));
  firmware.registers.set(kPc, 0x8000'5430);
  capture = firmware.capture();
  ASSERT_TRUE(enter_interrupted_code(capture, true));
  EXPECT_EQ(capture.registers.get(kPc), kPcOfCall);
  EXPECT_EQ(capture.registers.get(kSp), kStack);
  EXPECT_EQ(capture.registers.get(kTp), 0x1234u);
  EXPECT_EQ(capture.level, PrivilegeLevel::kKernel);
  ASSERT_TRUE(capture.firmware);
  EXPECT_FALSE(capture.firmware->frame);
  EXPECT_TRUE(capture.pieces.empty());  // firmware's memory
  capture = firmware.capture();
  capture.pieces.push_back({{}, wire::PieceKind::kValue, 8, 0, 8, saved::kTag});
  ASSERT_TRUE(enter_interrupted_code(capture, true));
  EXPECT_EQ(capture.pieces.size(), 2u);  // the recipe has entered the caller
}

// Behind page tables each page is a piece.
TEST(FirmwareCode, AStackIsOnePieceAgain) {
  wire::Capture capture = Firmware().capture(wire::PieceKind::kSystem, saved::kTag);
  const auto add = [&](std::uint64_t address, std::uint32_t requested, std::uint32_t size,
                       wire::PieceKind why) {
    capture.pieces.push_back({GuestVirt{address}, why, requested,
                              static_cast<std::uint32_t>(capture.bytes.size()), size});
    capture.bytes.resize(capture.bytes.size() + size);
  };
  constexpr auto kCurrent = wire::PieceKind::kCurrentStack;
  add(0xff0, 0x2000, 0x10, kCurrent);
  add(0x1000, 0x1ff0, 0x1000, kCurrent);  // and no more is mapped
  add(0x2000, 0x100, 0x100, kCurrent);    // of another copy
  add(0x5000, 0x100, 0x100, wire::PieceKind::kUserStack);
  ASSERT_TRUE(enter_interrupted_code(capture, true));
  ASSERT_EQ(capture.pieces.size(), 4u);
  EXPECT_EQ(capture.pieces[1].address.value, 0xff0u);
  EXPECT_EQ(capture.pieces[1].size, 0x1010u);
  EXPECT_EQ(capture.pieces[1].requested, 0x2000u);
  EXPECT_EQ(capture.pieces[2].size, 0x100u);
}

// Firmware steps over ecall in the frame, and may allow interrupts.
TEST(FirmwareCode, WhatFirmwareChangesDoesNotCount) {
  Firmware firmware;
  firmware.stack[kFrameAt + 32] += 4;
  firmware.registers.set(kSstatus, kStatus | 1u << 3 | 1u << 19);
  wire::Capture capture = firmware.capture();
  ASSERT_TRUE(enter_interrupted_code(capture, true));
  expect_interrupted(capture, PrivilegeLevel::kKernel);
}

TEST(FirmwareCode, OtherFramesAreNotTheCallers) {
  enum class Found { kFrame, kPc, kNothing };
  const auto found_after = [](auto change) {
    Firmware firmware;
    change(firmware);
    wire::Capture capture = firmware.capture();
    const bool is_entered = enter_interrupted_code(capture, true);
    EXPECT_EQ(capture.level == PrivilegeLevel::kFirmware, !is_entered);
    if (!is_entered) return Found::kNothing;
    EXPECT_EQ(capture.registers.get(kPc), kPcOfCall);
    EXPECT_EQ(capture.registers.has(kSp), capture.firmware->frame.has_value());
    return capture.firmware->frame ? Found::kFrame : Found::kPc;
  };
  EXPECT_EQ(found_after([](Firmware&) {}), Found::kFrame);
  // An earlier trap's frame, and a later one's; entry code, which has not saved everything.
  EXPECT_EQ(found_after([](Firmware& f) { f.stack[kFrameAt + 32] += 8; }), Found::kPc);
  EXPECT_EQ(found_after([](Firmware& f) { f.stack[kFrameAt + 33] ^= 1u << 8; }), Found::kPc);
  EXPECT_EQ(found_after([](Firmware& f) { f.stack[kFrameAt] = 1; }), Found::kPc);
  EXPECT_EQ(found_after([](Firmware& f) { f.registers.set(kSp, kStack + kFrameAt * 8); }),
            Found::kPc);
  // Firmware itself was interrupted, or a guest's guest; nothing was.
  EXPECT_EQ(found_after([](Firmware& f) {
              f.registers.set(kSstatus, kStatus | 3u << 11);
              f.stack[kFrameAt + 33] = kStatus | 3u << 11;
            }),
            Found::kNothing);
  EXPECT_EQ(found_after([](Firmware& f) {
              f.registers.set(kSstatus, kStatus | std::uint64_t{1} << 39);
              f.stack[kFrameAt + 33] = kStatus | std::uint64_t{1} << 39;
            }),
            Found::kNothing);
  EXPECT_EQ(found_after([](Firmware& f) { f.registers.valid = 0; }), Found::kNothing);
  // While it reads its caller's memory, addresses are that code's.
  EXPECT_EQ(found_after([](Firmware& f) { f.registers.set(kSstatus, kStatus | 1u << 17); }),
            Found::kPc);
  // It expected a trap of its own, and has restored the mode.
  EXPECT_EQ(found_after([](Firmware& f) { f.registers.set(kSepc, 0x8000'a124); }), Found::kNothing);
  // After a return from a trap of its own.
  EXPECT_EQ(found_after(
                [](Firmware& f) { f.registers.set(kSstatus, kStatus & ~std::uint64_t{3 << 11}); }),
            Found::kNothing);
}

// The recipe copies just what enter_interrupted_code() takes.
TEST(FirmwareCode, TheRecipeEntersWhereTheFrameIsTheCallers) {
  const auto copies = [](const Firmware& firmware) {
    wire::RecipeBuilder builder;
    guestos::enter_interrupted_code(builder, GuestVirt{kStack + kFrameAt * 8});
    EXPECT_FALSE(builder.fault());
    const auto recipe = builder.take();
    wire::RecipeRun run(recipe, firmware.registers, {});
    std::size_t copied = 0;
    while (const auto request = run.next()) {
      if (request->is_load()) {
        run.loaded(firmware.stack[(request->read_at.value - kStack) / 8]);
      } else {
        copied += request->size;
        EXPECT_EQ(request->tag, saved::kTag);
      }
    }
    return copied;
  };
  Firmware firmware;
  EXPECT_EQ(copies(firmware), saved::kBytes);
  firmware.stack[kFrameAt + 32] += 4;
  EXPECT_EQ(copies(firmware), saved::kBytes);
  firmware.stack[kFrameAt + 32] += 4;
  EXPECT_EQ(copies(firmware), 0u);
  firmware = {};
  firmware.registers.set(kSstatus, kStatus ^ 1u << 8);
  EXPECT_EQ(copies(firmware), 0u);
  firmware = {};
  firmware.registers.set(kSp, kStack + kFrameAt * 8);
  EXPECT_EQ(copies(firmware), 0u);
  firmware = {};
  firmware.registers.set(kSstatus, kStatus | 1u << 17);
  firmware.stack[kFrameAt + 33] |= 1u << 17;
  EXPECT_EQ(copies(firmware), 0u);
  firmware = {};
  firmware.registers.set(kPriv, 1);
  EXPECT_EQ(copies(firmware), 0u);
}

}  // namespace
}  // namespace ringside::session
