#pragma once

#include <libunwind-x86_64.h>

#include "eh_frame_table.h"
#include "unwind/stack_memory.h"
#include "walker.h"

namespace ringside::bench {

// libunwind's remote unwinding: accessors give it the registers and the memory of a capture, and
// find_proc_info searches a table of the images' call-frame information. Its cache is on.
class LibunwindWalker final : public Walker {
 public:
  [[nodiscard]] static Result<std::unique_ptr<LibunwindWalker>> make(const elf::ImageMap& images);
  ~LibunwindWalker() override;

  std::size_t walk(const wire::Capture& capture, std::size_t limit) override;
  [[nodiscard]] std::vector<std::uint64_t> addresses() const override { return addresses_; }

 private:
  explicit LibunwindWalker(const elf::ImageMap& images) : images_(images) {}
  static int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t* info,
                            int need_info, void* self);
  static int read_memory(unw_addr_space_t space, unw_word_t address, unw_word_t* word, int write,
                         void* self);
  static int read_register(unw_addr_space_t space, unw_regnum_t reg, unw_word_t* value, int write,
                           void* self);

  const elf::ImageMap& images_;
  std::vector<EhFrameTable> tables_;
  unw_accessors_t accessors_ = {};
  unw_addr_space_t space_ = nullptr;
  const unwind::StackMemory* memory_ = nullptr;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace ringside::bench
