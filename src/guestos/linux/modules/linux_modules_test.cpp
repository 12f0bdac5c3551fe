#include "guestos/linux/modules/linux_modules.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "guestos/linux/modules/module_shape.h"
#include "unwind/orc/table.h"

namespace ringside::guestos {
namespace {

// Guest memory in pages that are there once something was put into them.
class Memory final : public VirtualMemory {
 public:
  void put(std::uint64_t at, Bytes bytes) {
    for (const std::byte byte : bytes) {
      auto& page = pages_[at / kPage];
      page.resize(kPage);
      page[at++ % kPage] = byte;
    }
  }
  template <class T>
  void put_value(std::uint64_t at, T value) {
    put(at, std::as_bytes(std::span(&value, 1)));
  }
  void remove_page(std::uint64_t at) { pages_.erase(at / kPage); }
  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt at, std::span<std::byte> into) override {
    ++reads;
    std::size_t count = 0;
    for (; count < into.size(); ++count) {
      const auto page = pages_.find((at.value + count) / kPage);
      if (page == pages_.end()) break;
      into[count] = page->second[(at.value + count) % kPage];
    }
    return count;
  }
  std::size_t reads = 0;

 private:
  static constexpr std::uint64_t kPage = 4096;
  std::map<std::uint64_t, std::vector<std::byte>> pages_;
};

// Where the fields of struct module are: `p (int)&((struct module*)0)->FIELD` of gdb on Debian's
// vmlinux.
struct Fields {
  Arch arch;
  std::uint64_t kobject_mod;  // mkobj.mod, which points to the module as well
  std::uint64_t base;         // core_layout.base or mem[0].base
  std::uint64_t sizes;        // core_layout.size, text_size, ro_size, ro_after_init_size
  std::uint64_t mod;          // core_layout.mtn.mod or mem[0].mtn.mod
  std::uint64_t kallsyms;
  std::uint64_t core_kallsyms;
  bool layout;  // struct module_layout, not struct module_memory
};
constexpr Fields k686{Arch::kI386, 108, 256, 260, 276, 372, 376, true};          // 6.1.176
constexpr Fields kAmd64{Arch::kX86_64, 144, 320, 328, 344, 544, 552, true};      // 6.1.192
constexpr Fields kRiscv64{Arch::kRiscv64, 144, 320, 328, 336, 864, 872, false};  // 6.12.107

class Guest {
 public:
  explicit Guest(const Fields& fields)
      : fields_(fields),
        is_64_(arch::roles_of(fields.arch).pointer_size == 8),
        area_(is_64_ ? 0xffffffffc0000000 : 0xe0800000),
        list_(is_64_ ? 0xffffffff82000000 : 0xc1cc74e4) {
    put_word(list_, list_);
  }
  // A module of one page of code at 0x10000 * number, with two functions and a variable.
  void load(std::uint64_t number, std::string_view name, std::uint32_t state = 0) {
    const std::uint64_t code = area_ + 0x10000 * number;
    const std::uint64_t module = module_at(number);
    memory.put(code, std::vector<std::byte>(0x1000, std::byte{0x90}));
    memory.put_value(module, state);
    const std::uint64_t word = is_64_ ? 8 : 4;
    put_word(module + word, head_);
    put_word(module + 2 * word, list_);
    if (head_ != list_) put_word(head_ + word, module + word);
    memory.put(module + 3 * word, as_bytes(name));
    put_word(module + fields_.kobject_mod, module);
    put_word(module + fields_.base, code);
    for (const std::uint32_t i : {0u, 1u, 2u, 3u})
      if (fields_.layout)
        memory.put_value<std::uint32_t>(module + fields_.sizes + 4 * i, kSizes[i]);
    if (!fields_.layout) memory.put_value<std::uint32_t>(module + fields_.sizes, 0x1000);
    put_word(module + fields_.mod, module);
    put_symbols(module, code);
    head_ = module + word;
    put_word(list_, head_);
  }
  // Rows of ORC for the two functions, in struct mod_arch_specific of 6.1.192 (480, 488, 496), and
  // in front of it, as exported symbols are, a number with pointers to something else.
  void add_orc(std::uint64_t number) {
    const std::uint64_t code = area_ + 0x10000 * number;
    const std::uint64_t module = module_at(number);
    const std::uint64_t ip = code + 0x2000;
    put_word(module + 232, 2);
    put_word(module + 240, code + 0x2800);
    put_word(module + 248, code + 0x2900);
    memory.put(code + 0x2800, std::vector<std::byte>(0x200, std::byte{0x7f}));
    put_word(module + 480, 3);
    put_word(module + 488, ip);
    put_word(module + 496, ip + 12);
    memory.put_value(ip, static_cast<std::int32_t>(code + 0x10 - ip));
    memory.put_value(ip + 4, static_cast<std::int32_t>(code + 0x40 - (ip + 4)));
    // sp+8, then sp+24 (arch/x86/include/asm/orc_types.h)
    memory.put_value(ip + 8, static_cast<std::int32_t>(0x9000));  // of .init.text
    std::uint64_t at = ip + 12;
    for (const std::uint16_t half :
         std::initializer_list<std::uint16_t>{8, 0, 5, 24, 0, 5, 8, 0, 5}) {
      memory.put_value(at, half);
      at += 2;
    }
  }
  [[nodiscard]] std::uint64_t module_at(std::uint64_t number) const {
    return area_ + 0x10000 * number + 0x4040;
  }
  [[nodiscard]] std::uint64_t area() const { return area_; }
  [[nodiscard]] LinuxModules modules() const { return {{GuestVirt{list_}}, fields_.arch}; }
  // With other places, where the kernel has something else.
  [[nodiscard]] LinuxModules searched_modules() {
    const std::uint64_t empty = list_ + 0x100;
    put_word(empty, empty);
    const std::uint64_t to_nowhere = list_ + 0x200;
    put_word(to_nowhere, 0x1234);
    const std::uint64_t word = is_64_ ? 8 : 4;
    const std::uint64_t other = list_ + 0x300;  // a list of what are no modules
    put_word(other, other + 0x100);
    put_word(other + 0x100, other);
    put_word(other + 0x100 + word, other);
    // A word that points to the module, which does not point back to it.
    const std::uint64_t user = list_ + 0x500;
    put_word(user, head_);
    return {{{empty}, {to_nowhere}, {other}, {user}, {0x10}, {list_}}, fields_.arch};
  }

  Memory memory;

 private:
  static constexpr std::uint32_t kSizes[] = {0x8000, 0x1000, 0x3000, 0x4000};

  void put_word(std::uint64_t at, std::uint64_t value) {
    if (is_64_)
      memory.put_value(at, value);
    else
      memory.put_value(at, static_cast<std::uint32_t>(value));
  }
  template <class Sym>
  void put_symbol(std::uint64_t& at, std::uint64_t name, std::uint64_t value, std::uint64_t size,
                  unsigned char info) {
    Sym symbol{};
    symbol.st_name = static_cast<std::uint32_t>(name);
    symbol.st_value = static_cast<decltype(symbol.st_value)>(value);
    symbol.st_size = static_cast<decltype(symbol.st_size)>(size);
    symbol.st_info = info;
    symbol.st_shndx = value == 0 ? 0 : 1;
    memory.put_value(at, symbol);
    at += sizeof symbol;
  }
  void put_symbols(std::uint64_t module, std::uint64_t code) {
    using namespace std::string_view_literals;
    constexpr std::string_view kNames = "\0open_disk\0close_disk\0disk_count\0"sv;
    const std::uint64_t table = code + 0x5000;
    const std::uint64_t strings = code + 0x6000;
    std::uint64_t at = table;
    const auto put = [&](auto... values) {
      is_64_ ? put_symbol<Elf64_Sym>(at, values...) : put_symbol<Elf32_Sym>(at, values...);
    };
    constexpr unsigned char kFunction = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC);
    put(0u, std::uint64_t{0}, 0u, static_cast<unsigned char>(0));
    put(1u, code + 0x10, 0x20u, kFunction);
    put(11u, code + 0x40, 0x30u, kFunction);
    put(22u, code + 0x4100, 4u, static_cast<unsigned char>(ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT)));
    memory.put(strings, as_bytes(kNames));
    memory.put(strings + kNames.size(), std::vector<std::byte>(4));
    const std::uint64_t word = is_64_ ? 8 : 4;
    const std::uint64_t kallsyms = module + fields_.core_kallsyms;
    put_word(module + fields_.kallsyms, kallsyms);
    put_word(kallsyms, table);
    memory.put_value<std::uint32_t>(kallsyms + word, 4);
    put_word(kallsyms + 2 * word, strings);
    put_word(kallsyms + 3 * word, strings + kNames.size());
  }

  Fields fields_;
  bool is_64_;
  std::uint64_t area_;
  std::uint64_t list_;
  std::uint64_t head_ = list_;
};

class Modules : public ::testing::TestWithParam<Fields> {};

TEST_P(Modules, BecomeImagesOfWhatTheGuestHolds) {
  Guest guest(GetParam());
  guest.load(0, "virtio_blk");
  guest.load(1, "ext4");
  auto modules = guest.modules();
  const auto images = modules.poll(guest.memory);
  ASSERT_TRUE(images) << images.error().message;
  ASSERT_EQ(images->size(), 2u);
  EXPECT_EQ((*images)[0].name, "ext4");  // the newest is first
  const elf::Image& disk = (*images)[1];
  EXPECT_EQ(disk.name, "virtio_blk");
  EXPECT_TRUE(disk.from_guest);
  EXPECT_EQ(disk.file->arch(), GetParam().arch);
  ASSERT_EQ(disk.file->segments().size(), 1u);
  EXPECT_EQ(disk.file->segments()[0].address.value, guest.area());
  EXPECT_EQ(disk.file->segments()[0].memory_size, 0x1000u);
  EXPECT_EQ(disk.file->bytes_at({guest.area() + 0xfff}, 8).size(), 1u);
  const auto& functions = disk.file->symbols();
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[1].name, "close_disk");
  EXPECT_EQ(functions[1].address.value, guest.area() + 0x40);
  EXPECT_EQ(functions[1].size, 0x30u);
}

TEST_P(Modules, AreFoundWhereTheirListIsOneOfSeveral) {
  Guest guest(GetParam());
  auto modules = guest.searched_modules();
  EXPECT_TRUE(modules.poll(guest.memory)->empty());
  guest.load(0, "virtio_blk");
  guest.load(1, "ext4");
  const auto images = modules.poll(guest.memory);
  ASSERT_TRUE(images) << images.error().message;
  EXPECT_EQ(images->size(), 2u);
  guest.memory.reads = 0;
  EXPECT_TRUE(modules.poll(guest.memory)->empty());
  EXPECT_EQ(guest.memory.reads, 1u);
}

TEST_P(Modules, AreReportedOnce) {
  Guest guest(GetParam());
  guest.load(0, "virtio_blk");
  auto modules = guest.modules();
  EXPECT_EQ(modules.poll(guest.memory)->size(), 1u);
  guest.memory.reads = 0;
  EXPECT_TRUE(modules.poll(guest.memory)->empty());
  EXPECT_EQ(guest.memory.reads, 1u);
  guest.load(1, "ext4", 1);  // MODULE_STATE_COMING
  EXPECT_TRUE(modules.poll(guest.memory)->empty());
  guest.memory.put_value<std::uint32_t>(guest.module_at(1), 0);
  const auto images = modules.poll(guest.memory);
  ASSERT_EQ(images->size(), 1u);
  EXPECT_EQ((*images)[0].name, "ext4");
}

TEST_P(Modules, WhoseCodeCannotBeReadComeLater) {
  Guest guest(GetParam());
  guest.load(0, "virtio_blk");
  guest.memory.remove_page(guest.area());
  auto modules = guest.modules();
  EXPECT_TRUE(modules.poll(guest.memory)->empty());
  guest.load(0, "virtio_blk");
  EXPECT_EQ(modules.poll(guest.memory)->size(), 1u);
}

TEST_P(Modules, AListThatLeadsNowhereEnds) {
  Guest guest(GetParam());
  guest.load(0, "virtio_blk");
  const std::uint64_t word = arch::roles_of(GetParam().arch).pointer_size;
  auto modules = guest.modules();
  guest.memory.put_value<std::uint32_t>(guest.module_at(0) + word, 0x40);
  EXPECT_EQ(modules.poll(guest.memory)->size(), 1u);
}

TEST(ModuleOrc, IsTakenWhereItLeadsToTheCode) {
  Guest guest(kAmd64);
  guest.load(0, "virtio_blk");
  guest.add_orc(0);
  guest.load(1, "ext4");
  auto modules = guest.modules();
  const auto images = modules.poll(guest.memory);
  ASSERT_TRUE(images) << images.error().message;
  ASSERT_EQ(images->size(), 2u);
  EXPECT_FALSE(unwind::orc::Table::from_elf(*(*images)[0].file));
  const auto orc = unwind::orc::Table::from_elf(*(*images)[1].file);
  ASSERT_TRUE(orc);
  EXPECT_EQ(orc->find_compact({guest.area() + 0x10}).cfa_offset, 8);
  EXPECT_EQ(orc->find_compact({guest.area() + 0x3f}).cfa_offset, 8);
  EXPECT_EQ(orc->find_compact({guest.area() + 0x40}).cfa_offset, 24);
  EXPECT_EQ(orc->size().entries, 3u);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Modules, ::testing::Values(k686, kAmd64, kRiscv64),
                         [](const auto& kernel) {
                           return std::string(arch::name_of(kernel.param.arch));
                         });

// struct module_memory of 6.13: {base, rw_copy, is_rox, size}.
TEST(ModuleShape, KnowsReadOnlyCopies) {
  std::vector<std::byte> bytes(kModuleBytes);
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  const std::uint64_t at = 0xffffffffc0204040;
  std::memcpy(bytes.data() + 24, "ext4", 4);
  put(320, std::uint64_t{0xffffffffc0400000});
  put(336, std::uint32_t{1});
  put(340, std::uint32_t{0x5000});
  put(344, at);
  const auto module = read_module_shape(bytes, {at}, true);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->text.value, 0xffffffffc0400000);
  EXPECT_EQ(module->text_size, 0x5000u);
  EXPECT_EQ(module->symbol_count, 0u);
  put(24, ' ');
  EXPECT_FALSE(read_module_shape(bytes, {at}, true));
}

}  // namespace
}  // namespace ringside::guestos
