#include "guestos/linux/tasks/user_stack_recipe.h"

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "guestos/linux/linux_arch.h"

namespace ringside::guestos {
namespace {

using memory::low_bits;

using wire::PieceKind;

constexpr unsigned kEntryBytes = 8;
constexpr unsigned kEntryShift = 3;

class Walk {
 public:
  Walk(wire::RecipeBuilder& recipe, const UserTables& tables, Arch arch, const UserStack& stack,
       wire::RecipeBuilder::Label end)
      : recipe_(recipe),
        shape_(tables.shape),
        to_linear_(tables.to_linear),
        arch_(arch),
        sp_(stack.sp),
        table_(stack.table),
        end_(end) {}

  void write() {
    copy_if_readable();
    // Above them an address has no entry.
    recipe_.go_if_not_less(sp_, low_bits(shape_.address_bits) + 1, end_);
    for (std::size_t i = 0; i + 1 < shape_.levels.size(); ++i) go_down(shape_.levels[i]);
    copy_pages(shape_.levels.back());
  }

 private:
  // With the task's own page tables loaded, whatever the vCPU may read of them.
  void copy_if_readable() {
    const arch::PageTableRoot& root = arch::info_of(arch_).user_root;
    const auto walk = recipe_.label();
    recipe_.read_register(entry_, root.reg, walk);
    recipe_.mask(entry_, entry_, root.mask);
    recipe_.shift_left(entry_, entry_, root.shift);
    recipe_.add(entry_, entry_, to_linear_);
    recipe_.go_if_not_equal(entry_, table_, walk);
    const LinuxArch* const linux_arch = find_linux_arch(arch_);
    if (linux_arch == nullptr || linux_arch->may_hide_user_memory)
      recipe_.load(entry_, {sp_}, kEntryBytes, walk);
    recipe_.copy_stack(sp_, PieceKind::kUserStack);
    recipe_.go(end_);
    recipe_.bind(walk);
  }

  // place_: of the entry for sp.
  void find_entry(const memory::RadixLevel& level) {
    recipe_.shift_right(place_, sp_, level.shift - kEntryShift);
    recipe_.mask(place_, place_, low_bits(level.index_bits) << kEntryShift);
    recipe_.add(place_, place_, table_);
  }

  void load_entry() {
    recipe_.load(entry_, {place_}, kEntryBytes, end_);
    recipe_.mask(test_, entry_, shape_.present.mask);
    recipe_.go_if_not_equal(test_, shape_.present.value, end_);
  }

  // table_: where the kernel maps what the entry points to; a page has 1 << page_shift bytes.
  void follow_entry(unsigned page_shift) {
    bool is_first = true;
    for (const memory::TableShape::AddressBits& bits : shape_.address) {
      if (bits.mask == 0) continue;
      const auto into = is_first ? table_ : test_;
      const std::uint64_t below = page_shift > bits.left ? low_bits(page_shift - bits.left) : 0;
      recipe_.mask(into, entry_, bits.mask & ~below);
      if (bits.left != 0) recipe_.shift_left(into, into, bits.left);
      if (!is_first) recipe_.add(table_, table_, into);
      is_first = false;
    }
    recipe_.add(table_, table_, to_linear_);
  }

  void go_down(const memory::RadixLevel& level) {
    find_entry(level);
    load_entry();
    recipe_.mask(test_, entry_, shape_.table.mask);
    if (level.may_be_page) {
      const auto table = recipe_.label();
      recipe_.go_if_equal(test_, shape_.table.value, table);
      copy_first_page(level.shift);
      recipe_.go(end_);
      recipe_.bind(table);
    } else {
      recipe_.go_if_not_equal(test_, shape_.table.value, end_);
    }
    follow_entry(0);
  }

  // From sp to the end of its page.
  void copy_first_page(unsigned page_shift) {
    follow_entry(page_shift);
    recipe_.mask(test_, sp_, low_bits(page_shift));
    recipe_.add(table_, table_, test_);
    recipe_.copy({place_}, kEntryBytes, PieceKind::kSystem, kStackEntryTag);
    copy_to_end_of(page_shift);
  }

  void copy_to_end_of(unsigned page_shift) {
    const std::uint64_t page = std::uint64_t{1} << page_shift;
    recipe_.copy_stack_at(sp_, table_, PieceKind::kUserStack, page, end_);
  }

  void copy_pages(const memory::RadixLevel& level) {
    const std::uint64_t page = std::uint64_t{1} << level.shift;
    find_entry(level);
    load_entry();
    copy_first_page(level.shift);
    for (unsigned i = 1; i < kMaxStackPages; ++i) {
      recipe_.add(place_, place_, kEntryBytes);
      recipe_.mask(test_, place_, low_bits(level.index_bits) << kEntryShift);
      recipe_.go_if_equal(test_, 0, end_);  // behind the table's last entry
      recipe_.add(sp_, sp_, page);
      recipe_.mask(sp_, sp_, ~(page - 1));
      load_entry();
      follow_entry(level.shift);
      copy_to_end_of(level.shift);
    }
  }

  wire::RecipeBuilder& recipe_;
  const memory::TableShape& shape_;
  std::uint64_t to_linear_;
  Arch arch_;
  wire::RecipeBuilder::Slot sp_;
  wire::RecipeBuilder::Slot table_;
  wire::RecipeBuilder::Label end_;
  wire::RecipeBuilder::Slot place_ = recipe_.slot();
  wire::RecipeBuilder::Slot entry_ = recipe_.slot();
  wire::RecipeBuilder::Slot test_ = recipe_.slot();
};

}  // namespace

void copy_user_stack(wire::RecipeBuilder& recipe, const UserTables& tables, Arch arch,
                     const UserStack& stack, wire::RecipeBuilder::Label end) {
  if (!tables.shape.levels.empty()) Walk(recipe, tables, arch, stack, end).write();
}

}  // namespace ringside::guestos
