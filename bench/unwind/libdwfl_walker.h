#pragma once

#include <elfutils/libdwfl.h>

#include "elf/image_map.h"
#include "unwind/stack_memory.h"
#include "walker.h"

namespace ringside::bench {

// elfutils' libdwfl with a state of its own (dwfl_attach_state): registers and memory are those of
// a capture, the modules are the images at the same places. Attached once, for all captures.
class LibdwflWalker final : public Walker {
 public:
  // The error is libdwfl's own.
  [[nodiscard]] static Result<std::unique_ptr<LibdwflWalker>> make(const elf::ImageMap& images);
  ~LibdwflWalker() override;

  std::size_t walk(const wire::Capture& capture, std::size_t limit) override;
  [[nodiscard]] std::vector<std::uint64_t> addresses() const override { return addresses_; }

 private:
  explicit LibdwflWalker(const elf::ImageMap& images);
  [[nodiscard]] Result<void> attach();
  [[nodiscard]] Result<void> report(const elf::Image& image);
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* self);
  static bool set_registers(Dwfl_Thread* thread, void* self);
  static int add_frame(Dwfl_Frame* frame, void* self);

  const elf::ImageMap& images_;
  Dwfl* dwfl_ = nullptr;
  const unwind::StackMemory* memory_ = nullptr;
  std::size_t limit_ = 0;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace ringside::bench
