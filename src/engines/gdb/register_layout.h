#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arch/arch_info.h"
#include "arch/register_names.h"
#include "arch/registers.h"
#include "base/result.h"
#include "base/types.h"
#include "engines/gdb/protocol/target_description.h"

namespace ringside::engines::gdb {

using arch::AskedFor;

// Where a stub keeps the registers that a capture carries.
//
// Enters: a target description and the length of one `g` reply. Leaves: for each of our registers
// its place in `g`, or its number for `p`. The hard part is that a description lists more registers
// than `g` holds (QEMU puts what is beyond its core registers, as aarch64's system registers, into
// `p` only) and does not say which: `g` is the registers in the order of their numbers, without
// gaps, as far as it goes.
class RegisterLayout {
 public:
  // Errors: kUnsupported for an architecture without a register table, kFormat if the program
  // counter or the stack pointer is missing.
  [[nodiscard]] static Result<RegisterLayout> from_description(const TargetDescription& description,
                                                               std::size_t g_bytes);
  // For stubs that describe nothing: what gdb itself assumes, guessed from the length of `g`.
  [[nodiscard]] static Result<RegisterLayout> fallback(std::size_t g_bytes);

  // The stub's. Its vCPUs may be captured as i386 where this is x86_64 (execution_mode.h).
  [[nodiscard]] Arch arch() const { return arch_; }
  // Numbers of registers that `g` does not hold, for one `p` request each. Not all of them are
  // wanted of every vCPU (is_wanted()).
  [[nodiscard]] std::span<const std::uint32_t> numbers_for_p(AskedFor when) const {
    return group(when).numbers;
  }

  // Decodes a `g` reply (hexadecimal) into `registers`. Bytes that are "xx" stay unread.
  void decode_g(std::string_view hex, arch::Registers& registers) const;
  // Whether a capture with these registers, of which `g` has been decoded, and those of every
  // sample, is to have the n-th of numbers_for_p(when).
  [[nodiscard]] bool is_wanted(AskedFor when, std::size_t n,
                               const arch::Registers& registers) const;
  // The n-th of numbers_for_p(when) as a capture numbers it.
  [[nodiscard]] std::uint8_t id_of(AskedFor when, std::size_t n) const {
    return group(when).places[n].known.id;
  }
  // The number for `p` of the register that says whether addresses are translated by other tables
  // than the kernel's, or by more: for a guest's guest, or for user code of EL2. Nothing: none.
  [[nodiscard]] std::optional<std::uint32_t> other_translation_number() const {
    return other_translation_number_;
  }
  // Whether a reply to it says that it is so, or says nothing.
  [[nodiscard]] bool translates_otherwise(std::string_view hex) const;
  // Decodes the reply to `p` of the n-th of numbers_for_p(when), if it is wanted.
  void decode_p(AskedFor when, std::size_t n, std::string_view hex,
                arch::Registers& registers) const;

 private:
  struct Place {
    arch::RegisterName known;
    std::uint32_t offset;  // in `g`, bytes
    std::uint32_t size;    // bytes
  };
  struct Group {
    std::vector<Place> places;
    std::vector<std::uint32_t> numbers;
  };
  [[nodiscard]] const Group& group(AskedFor when) const {
    return by_number_[static_cast<std::size_t>(when)];
  }
  [[nodiscard]] static bool holds(const std::vector<Place>& places, std::uint8_t id,
                                  std::uint8_t level);
  [[nodiscard]] bool holds(const arch::RegisterName& known) const;
  [[nodiscard]] static bool decode(std::string_view hex, const Place& place,
                                   arch::Registers& registers);

  Arch arch_ = Arch::kUnknown;
  std::vector<Place> in_g_;
  std::array<Group, 3> by_number_;
  std::optional<std::uint32_t> other_translation_number_;
};

}  // namespace ringside::engines::gdb
