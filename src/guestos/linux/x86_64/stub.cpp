#include "guestos/linux/x86_64/stub.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ringside::guestos {
namespace {

constexpr std::int16_t kWord = 8;

enum class Kind : std::uint8_t { kNothing, kPushWord, kPushCopy, kBranch, kLeave };

struct Pattern {
  Kind kind;
  std::uint8_t size;
  std::array<std::uint8_t, 4> bytes;
  std::uint8_t fixed;  // so many of them are the same everywhere
};

constexpr std::array<Pattern, 14> kPatterns = {{
    {Kind::kNothing, 1, {0x90}, 1},                    // nop
    {Kind::kNothing, 1, {0xfc}, 1},                    // cld
    {Kind::kNothing, 3, {0x0f, 0x01, 0xca}, 3},        // clac
    {Kind::kNothing, 3, {0x0f, 0x1f, 0x00}, 3},        // nopl
    {Kind::kNothing, 4, {0xf3, 0x0f, 0x1e, 0xfa}, 4},  // endbr64
    {Kind::kNothing, 5, {0xf6, 0x44, 0x24}, 3},        // testb $3, 16(%rsp)
    {Kind::kPushWord, 2, {0x6a}, 1},                   // push $-1
    {Kind::kPushWord, 5, {0x68}, 1},
    {Kind::kPushCopy, 4, {0xff, 0x74, 0x24, 0x28}, 4},  // push 40(%rsp)
    {Kind::kBranch, 2, {0x75}, 1},                      // jne
    {Kind::kBranch, 6, {0x0f, 0x85}, 2},
    {Kind::kLeave, 5, {0xe8}, 1},  // call
    {Kind::kLeave, 5, {0xe9}, 1},  // jmp
    {Kind::kLeave, 2, {0xeb}, 1},
}};

const Pattern* pattern_at(Bytes code) {
  const auto matches = [code](const Pattern& pattern) {
    return code.size() >= pattern.size &&
           std::equal(pattern.bytes.begin(), pattern.bytes.begin() + pattern.fixed, code.begin(),
                      [](std::uint8_t a, std::byte b) { return std::byte{a} == b; });
  };
  const auto found = std::find_if(kPatterns.begin(), kPatterns.end(), matches);
  return found == kPatterns.end() ? nullptr : found;
}

}  // namespace

std::vector<StubInstruction> read_stub(Bytes code, std::uint64_t from) {
  constexpr std::size_t kMaxInstructions = 32;
  std::vector<StubInstruction> stub;
  std::int16_t frame = kWord;  // with the error code that hardware pushes
  bool copies = false;
  bool pushes = false;
  for (std::uint64_t at = from; at < code.size() && stub.size() < kMaxInstructions;) {
    const Pattern* pattern = pattern_at(code.subspan(at));
    if (pattern == nullptr) return {};
    // The copy has its own error code, and lies where the frame does if none is made.
    if (pattern->kind == Kind::kLeave && copies) frame = kWord;
    stub.push_back({at, pattern->size, frame, pattern->kind == Kind::kLeave});
    if (pattern->kind == Kind::kLeave) return stub;
    if (pattern->kind == Kind::kPushWord) {
      if (pushes) return {};
      pushes = true;
      for (StubInstruction& before : stub) before.frame = 0;
    }
    copies |= pattern->kind == Kind::kPushCopy;
    if (pattern->kind == Kind::kPushCopy) frame = static_cast<std::int16_t>(frame + kWord);
    at += pattern->size;
  }
  return {};
}

}  // namespace ringside::guestos
