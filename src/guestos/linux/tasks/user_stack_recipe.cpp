#include "guestos/linux/tasks/user_stack_recipe.h"

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "guestos/linux/linux_arch.h"
#include "guestos/recipe_writer.h"

namespace ringside::guestos {
namespace {

using enum wire::RecipeOpcode;

constexpr auto kSystem = static_cast<std::uint8_t>(wire::PieceKind::kSystem);
constexpr auto kUserStack = static_cast<std::uint8_t>(wire::PieceKind::kUserStack);
constexpr std::uint64_t kEntryBytes = 8;
constexpr unsigned kEntryShift = 3;

constexpr std::uint64_t low_bits(unsigned count) { return (std::uint64_t{1} << count) - 1; }

class Writer : RecipeWriter {
 public:
  Writer(const UserTables& tables, Arch arch, const UserStackSlots& slots)
      : shape_(tables.shape), to_linear_(tables.to_linear), arch_(arch), slots_(slots) {}

  [[nodiscard]] std::vector<wire::RecipeOp> write() && {
    copy_if_readable();
    // Above them an address has no entry.
    skip_to(end_, {kSkipIfNotLess, 0, slots_.sp, 0, 0, low_bits(shape_.address_bits) + 1});
    for (std::size_t i = 0; i + 1 < shape_.levels.size(); ++i) go_down(shape_.levels[i]);
    copy_pages(shape_.levels.back());
    bind(end_);
    return take();
  }

 private:
  // With the task's own page tables loaded, whatever the vCPU may read of them.
  void copy_if_readable() {
    const arch::PageTableRoot& root = arch::info_of(arch_).user_root;
    Label walk;
    skip_to(walk, {kRegister, slots_.entry, root.reg, 0, 0, 0});
    add({kMask, slots_.entry, slots_.entry, 0, 0, root.mask});
    add({kShiftLeft, slots_.entry, slots_.entry, 0, 0, root.shift});
    add({kAdd, slots_.entry, slots_.entry, 0, 0, to_linear_});
    add({kSubtract, slots_.entry, slots_.entry, slots_.table, 0, 0});
    skip_to(walk, {kSkipIfNotEqual, 0, slots_.entry, 0, 0, 0});
    const LinuxArch* const linux_arch = find_linux_arch(arch_);
    if (linux_arch == nullptr || linux_arch->may_hide_user_memory)
      skip_to(walk, {kLoad, slots_.entry, slots_.sp, kEntryBytes, 0, 0});
    add({kCopyStack, 0, slots_.sp, kUserStack, 0, 0});
    jump_to(end_);
    bind(walk);
  }

  // place: of the entry for sp.
  void find_entry(const memory::RadixLevel& level) {
    add({kShiftRight, slots_.place, slots_.sp, 0, 0, level.shift - std::uint64_t{kEntryShift}});
    add({kMask, slots_.place, slots_.place, 0, 0, low_bits(level.index_bits) << kEntryShift});
    add({kAddSlots, slots_.place, slots_.place, slots_.table, 0, 0});
  }

  void load_entry() {
    skip_to(end_, {kLoad, slots_.entry, slots_.place, kEntryBytes, 0, 0});
    add({kMask, slots_.test, slots_.entry, 0, 0, shape_.present.mask});
    skip_to(end_, {kSkipIfNotEqual, 0, slots_.test, 0, 0, shape_.present.value});
  }

  // table: where the kernel maps what the entry points to; a page has 1 << page_shift bytes.
  void follow_entry(unsigned page_shift) {
    std::uint8_t into = slots_.table;
    for (const memory::TableShape::AddressBits& bits : shape_.address) {
      if (bits.mask == 0) continue;
      const std::uint64_t below = page_shift > bits.left ? low_bits(page_shift - bits.left) : 0;
      add({kMask, into, slots_.entry, 0, 0, bits.mask & ~below});
      if (bits.left != 0) add({kShiftLeft, into, into, 0, 0, bits.left});
      if (into != slots_.table) add({kAddSlots, slots_.table, slots_.table, into, 0, 0});
      into = slots_.test;
    }
    add({kAdd, slots_.table, slots_.table, 0, 0, to_linear_});
  }

  void go_down(const memory::RadixLevel& level) {
    find_entry(level);
    load_entry();
    add({kMask, slots_.test, slots_.entry, 0, 0, shape_.table.mask});
    if (level.may_be_page) {
      Label table;
      skip_to(table, {kSkipIfEqual, 0, slots_.test, 0, 0, shape_.table.value});
      copy_first_page(level.shift);
      jump_to(end_);
      bind(table);
    } else {
      skip_to(end_, {kSkipIfNotEqual, 0, slots_.test, 0, 0, shape_.table.value});
    }
    follow_entry(0);
  }

  // From sp to the end of its page.
  void copy_first_page(unsigned page_shift) {
    follow_entry(page_shift);
    add({kMask, slots_.test, slots_.sp, 0, 0, low_bits(page_shift)});
    add({kAddSlots, slots_.table, slots_.table, slots_.test, 0, 0});
    add({kCopy, 0, slots_.place, kSystem, 0, kEntryBytes});
    copy_to_end_of(page_shift);
  }

  void copy_to_end_of(unsigned page_shift) {
    const std::uint64_t page = std::uint64_t{1} << page_shift;
    skip_to(end_, {kCopyStackAt, slots_.table, slots_.sp, kUserStack, 0, page});
  }

  void copy_pages(const memory::RadixLevel& level) {
    const std::uint64_t page = std::uint64_t{1} << level.shift;
    find_entry(level);
    load_entry();
    copy_first_page(level.shift);
    for (unsigned i = 1; i < kMaxStackPages; ++i) {
      add({kAdd, slots_.place, slots_.place, 0, 0, kEntryBytes});
      add({kMask, slots_.test, slots_.place, 0, 0, low_bits(level.index_bits) << kEntryShift});
      skip_to(end_, {kSkipIfEqual, 0, slots_.test, 0, 0, 0});  // behind the table's last entry
      add({kAdd, slots_.sp, slots_.sp, 0, 0, page});
      add({kMask, slots_.sp, slots_.sp, 0, 0, ~(page - 1)});
      load_entry();
      follow_entry(level.shift);
      copy_to_end_of(level.shift);
    }
  }

  const memory::TableShape& shape_;
  std::uint64_t to_linear_;
  Arch arch_;
  UserStackSlots slots_;
  Label end_;
};

}  // namespace

std::vector<wire::RecipeOp> user_stack_recipe(const UserTables& tables, Arch arch,
                                              const UserStackSlots& slots) {
  if (tables.shape.levels.empty()) return {};
  return Writer(tables, arch, slots).write();
}

}  // namespace ringside::guestos
