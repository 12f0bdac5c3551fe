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

// What reading a module takes at most: a symbol has 24 bytes or fewer.
std::uint64_t module_bytes(const ModuleShape& module) {
  std::uint64_t bytes = module.text_size + 24 * module.symbol_count + module.strings_size;
  for (const ModuleShape::Orc& orc : module.maybe_orc) bytes += 10 * orc.count;
  return bytes;
}

}  // namespace

Result<std::optional<std::uint64_t>> LinuxModules::read_word(GuestVirt at,
                                                             const elf::GuestReader& read) const {
  const std::size_t size = arch::roles_of(arch_).pointer_size;
  std::uint64_t value = 0;
  const auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(size);
  RINGSIDE_ASSIGN(const std::size_t count, read(at, bytes));
  if (count < size) return std::nullopt;
  return value;
}

// Whether a module's struct list_head follows, which leads back.
Result<bool> LinuxModules::is_list(GuestVirt at, const elf::GuestReader& read) const {
  const std::size_t word = arch::roles_of(arch_).pointer_size;
  RINGSIDE_ASSIGN(const auto first, read_word(at, read));
  if (!first || *first == at.value) return false;
  RINGSIDE_ASSIGN(const auto back, read_word(GuestVirt{*first} + word, read));
  if (back != at.value) return false;
  const GuestVirt module = GuestVirt{*first} - module_list_offset(word == 8);
  std::array<std::byte, kModuleBytes> bytes;
  RINGSIDE_ASSIGN(const std::size_t count, read(module, bytes));
  return read_module_shape(Bytes(bytes).first(std::min(count, bytes.size())), module, word == 8)
      .has_value();
}

// list_add_rcu() puts the newest module first (kernel/module/main.c), so the head shows what is
// new.
Result<std::vector<elf::Image>> LinuxModules::poll(const elf::GuestReader& read) {
  std::vector<elf::Image> images;
  for (std::size_t i = 0; lists_.size() > 1 && i < lists_.size(); ++i) {
    RINGSIDE_ASSIGN(const bool is_it, is_list(lists_[i], read));
    if (is_it) lists_ = {lists_[i]};
  }
  if (lists_.size() != 1) return images;
  const GuestVirt list = lists_.front();
  const bool is_64 = arch::roles_of(arch_).pointer_size == 8;
  RINGSIDE_ASSIGN(const auto head, read_word(list, read));
  if (!head || newest_ == head) return images;
  bool all = true;
  GuestVirt entry{*head};
  for (std::size_t i = 0; i < kMaxModules && entry != list; ++i) {
    const GuestVirt at = entry - module_list_offset(is_64);
    std::array<std::byte, kModuleBytes> bytes;
    RINGSIDE_ASSIGN(const std::size_t count, read(at, bytes));
    const auto module =
        read_module_shape(Bytes(bytes).first(std::min(count, bytes.size())), at, is_64);
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
    RINGSIDE_ASSIGN(auto image, read_module_image(*module, arch_, orc_header_, read));
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
