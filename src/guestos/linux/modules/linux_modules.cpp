#include "guestos/linux/modules/linux_modules.h"

#include <algorithm>
#include <array>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "guestos/linux/modules/module_image.h"
#include "guestos/linux/modules/module_shape.h"

namespace ringside::guestos {
namespace {

constexpr std::size_t kMaxModules = 4096;

// The most bytes that reading a module takes: a symbol has 24 bytes or fewer.
std::uint64_t module_bytes(const ModuleShape& module) {
  std::uint64_t bytes = module.text_size + 24 * module.symbol_count + module.strings_size;
  for (const ModuleShape::Orc& orc : module.maybe_orc) bytes += 10 * orc.count;
  return bytes;
}

}  // namespace

Result<bool> LinuxModules::is_module(GuestVirt entry, VirtualMemory& memory) const {
  const bool is_64 = arch::roles_of(arch_).pointer_size == 8;
  const GuestVirt module = entry - module_list_offset(is_64);
  RINGSIDE_ASSIGN(const auto bytes, memory.read_bytes(module, kModuleBytes));
  return read_module_shape(bytes, module, is_64).has_value();
}

// list_add_rcu() puts the newest module first (kernel/module/main.c), so the head shows what is
// new.
Result<std::vector<elf::Image>> LinuxModules::poll(VirtualMemory& memory) {
  std::vector<elf::Image> images;
  RINGSIDE_ASSIGN(const auto found,
                  list_.find(memory, [&](GuestVirt entry) { return is_module(entry, memory); }));
  if (!found) return images;
  const GuestVirt list = *found;
  const std::size_t word = arch::roles_of(arch_).pointer_size;
  const bool is_64 = word == 8;
  RINGSIDE_ASSIGN(const auto head, memory.read_word(list, word));
  if (!head || newest_ == head) return images;
  bool all = true;
  GuestVirt entry{*head};
  for (std::size_t i = 0; i < kMaxModules && entry != list; ++i) {
    const GuestVirt at = entry - module_list_offset(is_64);
    RINGSIDE_ASSIGN(const auto bytes, memory.read_bytes(at, kModuleBytes));
    const auto module = read_module_shape(bytes, at, is_64);
    if (!module) {
      all = false;
      break;
    }
    entry = module->next;
    const Known known{module->text, module->name};
    if (const auto before = known_.find(at.value);
        before != known_.end() && before->second == known)
      continue;
    if (!module->is_live) {
      all = false;
      continue;
    }
    known_[at.value] = known;
    if (module_bytes(*module) > bytes_left_) continue;
    RINGSIDE_ASSIGN(auto image, read_module_image(*module, arch_, orc_header_, memory));
    if (!image) {
      known_.erase(at.value);
      all = false;
      continue;
    }
    bytes_left_ -= image->file->file_bytes().size();
    images.push_back(std::move(*image));
  }
  if (all) newest_ = head;
  return images;
}

}  // namespace ringside::guestos
