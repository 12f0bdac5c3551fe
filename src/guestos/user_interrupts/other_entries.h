#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>

#include "elf/image_map.h"
#include "guestos/user_interrupts/kernel_entry.h"
#include "guestos/user_interrupts/pushed_words.h"

namespace ringside::guestos {

// Entries that hardware does not show: code that leads on to that of gates. It may push a system
// call's number, or be the stub of a vector that has no gate.
class OtherEntries {
 public:
  OtherEntries(const elf::Image& kernel, std::span<const KernelEntry> gates);

  // The entry whose code is known to lead on at `from`. It has words only where their places are
  // certain: in a run of constants that only hardware enters, or behind the push of the pc, and
  // that goes to the same code as gates' runs. There the pc lies as deep as under theirs.
  [[nodiscard]] KernelEntry at(ImageAddr from);

 private:
  [[nodiscard]] std::vector<PushedWord> words_of(const ConstantRun& run) const;

  const elf::Image& kernel_;
  std::optional<PushedWords> pushed_;  // of an x86 kernel
  // The place of the last constant where interrupts' runs go on, from the pc; nothing where they
  // differ.
  std::map<ImageAddr, std::optional<std::int64_t>> last_places_;
};

}  // namespace ringside::guestos
