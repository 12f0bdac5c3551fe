#include "guestos/user_interrupts/user_interrupts.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <utility>

#include "elf/elf_writer.h"
#include "guestos/testing/stack_capture.h"
#include "guestos/user_interrupts/kernel_entries.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kBias = 0x100000;
constexpr GuestVirt kStack{0x7000};

// The interrupt descriptor table in a guest's memory, and nothing else.
class TableMemory final : public VirtualMemory {
 public:
  explicit TableMemory(GuestVirt at) : at_(at) {}
  void set_bytes_before(std::size_t count) { before_ = count; }
  void set_gate(std::size_t vector, GuestVirt handler, unsigned privilege) {
    const std::uint64_t to = handler.value;
    const std::uint64_t low = (to & 0xffff) | 8u << 16 |
                              (0x8e00u | std::uint64_t{privilege} << 13) << 32 |
                              (to >> 16 & 0xffff) << 48;
    const std::uint64_t high = to >> 32;
    std::memcpy(bytes_.data() + before_ + 16 * vector, &low, sizeof(low));
    std::memcpy(bytes_.data() + before_ + 16 * vector + 8, &high, sizeof(high));
  }
  void set_byte(std::size_t at, unsigned value) { bytes_[at] = static_cast<std::byte>(value); }
  Result<std::size_t> read_up_to(GuestVirt address, std::span<std::byte> into) override {
    const std::uint64_t offset = address - at_;
    if (offset >= bytes_.size()) return std::size_t{0};
    const std::size_t size = std::min(into.size(), bytes_.size() - offset);
    std::memcpy(into.data(), bytes_.data() + offset, size);
    return size;
  }

 private:
  GuestVirt at_;
  std::size_t before_ = 0;
  std::array<std::byte, 4096 + 64> bytes_{};
};

// A kernel of testdata/user_interrupts.S with gates for its stubs.
class X86UserInterrupts : public ::testing::Test {
 protected:
  void SetUp() override { open(std::string(RINGSIDE_USER_INTERRUPTS) + "ALONE"); }
  void open(const std::string& path) {
    kernel_ = {
        .id = 1, .name = "kernel", .file = elf::ElfFile::open(path).value(), .load_bias = kBias};
    for (const elf::TableSymbol& symbol : kernel_.file->all_symbols())
      places_[std::string(symbol.name)] = kernel_.to_guest(symbol.address);
    memory_.emplace(places_.at("idt"));
    for (const unsigned vector : {0, 14, 21, 32, 33, 128})
      memory_->set_gate(vector, places_.at("stub_" + std::to_string(vector)),
                        vector == 128 ? 3 : 0);
    memory_->set_gate(48, places_.at("own_entry"), 0);
  }

  std::vector<KernelEntry> entries() {
    const auto no_registers = [] { return Result<arch::Registers>(arch::Registers{}); };
    return KernelEntryFinder().find(kernel_, *memory_, no_registers).value();
  }

  // Whether a stack is marked whose outermost frame returns to `place`, and which has these words
  // below the pc of user code: the error code and the vector.
  bool marks(const std::string& place, std::uint64_t error_code, std::uint64_t vector,
             StopReason stop = StopReason::kUserMode) {
    Stack stack;
    stack.stop = stop;
    stack.frames.push_back({.address = places_.at("handler"), .exact = true});
    stack.frames.push_back({.address = places_.at(place)});
    return marks(stack, error_code, vector);
  }
  bool marks_exactly(const std::string& place) {
    Stack stack;
    stack.stop = StopReason::kUserMode;
    stack.frames.push_back({.address = places_.at(place), .exact = true});
    return marks(stack, 0, 0);
  }
  bool marks(Stack& stack, std::uint64_t error_code, std::uint64_t vector) {
    const auto capture =
        testing::stack_capture(Arch::kX86_64, kStack, {vector, error_code, 0x401000});
    UserInterrupts(kernel_, entries()).mark(capture, stack, [this] {
      return unwind::UserEntry{.pc_slot = pc_slot_};
    });
    const auto marked = std::count_if(stack.frames.begin(), stack.frames.end(), [](const Frame& f) {
      return f.kind == FrameKind::kInterrupt;
    });
    EXPECT_TRUE(marked == 0 || marked == std::ssize(stack.frames));
    return marked != 0;
  }

  elf::Image kernel_;
  std::map<std::string, GuestVirt> places_;
  std::optional<TableMemory> memory_;
  std::optional<GuestVirt> pc_slot_ = kStack + 16;
};

TEST_F(X86UserInterrupts, TakesGatesThatUserCodeCannotCall) {
  std::map<GuestVirt, bool> found;
  for (const KernelEntry& entry : entries()) found[entry.address] = entry.is_interrupts;
  const std::map<GuestVirt, bool> expected{
      {places_.at("stub_0"), false},  {places_.at("stub_14"), false},
      {places_.at("stub_21"), false}, {places_.at("stub_32"), true},
      {places_.at("stub_33"), true},  {places_.at("stub_128"), false},
      {places_.at("own_entry"), true}};
  EXPECT_EQ(found, expected);
}

TEST_F(X86UserInterrupts, AreProvedByCodeOfTheirOwn) {
  EXPECT_TRUE(marks("own_after_call", 0, 0));
  EXPECT_FALSE(marks("own_after_call", 0, 0, StopReason::kTruncated));
  EXPECT_FALSE(marks("own_after_call", 0, 0, StopReason::kEndOfStack));
}

TEST_F(X86UserInterrupts, AreProvedByTheVectorThatTheirStubHasPushed) {
  EXPECT_TRUE(marks("after_call", 0, 32));
  EXPECT_TRUE(marks("after_call", 0, 33));
  EXPECT_FALSE(marks("after_call", 0, 128));
  EXPECT_FALSE(marks("after_call", 6, 14));
  EXPECT_FALSE(marks("after_call", 0, 34));  // no gate
  EXPECT_FALSE(marks("after_call", 1, 32));  // no stub has pushed that
}

TEST_F(X86UserInterrupts, AreNotProvedByOtherCode) {
  EXPECT_FALSE(marks("system_after_call", 0, 32));
  EXPECT_FALSE(marks("handler", 0, 32));
}

TEST_F(X86UserInterrupts, AreNotProvedByWordsThatCannotBeRead) {
  memory_->set_gate(49, places_.at("all_traps"), 0);  // an entry without any
  EXPECT_TRUE(marks("after_call", 0, 32));
  pc_slot_.reset();
  EXPECT_FALSE(marks("after_call", 0, 32));
}

TEST_F(X86UserInterrupts, AreProvedAtEachInstructionOfAStub) {
  Stack stack;
  stack.stop = StopReason::kUserMode;
  stack.frames.push_back({.address = places_.at("stub_32") + 2, .exact = true});
  EXPECT_TRUE(marks(stack, 0, 0));
  stack.frames.front() = {.address = places_.at("stub_128") + 2, .exact = true};
  EXPECT_FALSE(marks(stack, 0, 32));
}

TEST_F(X86UserInterrupts, AreNotProvedWhereASystemCallGoesTheirWay) {
  for (const char* variant : {"JUMPS", "FALLS"}) {
    open(std::string(RINGSIDE_USER_INTERRUPTS) + variant);
    EXPECT_FALSE(marks("after_call", 0, 32)) << variant;
    EXPECT_TRUE(marks("after_call", 0, 33)) << variant;
    EXPECT_TRUE(marks("own_after_call", 0, 0)) << variant;
  }
}

// `push %rcx; push %rax; push $32`: above the number lies rax.
TEST_F(X86UserInterrupts, AreNotProvedWhereTheWordsOfASystemCallLieElsewhere) {
  open(std::string(RINGSIDE_USER_INTERRUPTS) + "PUSHES");
  EXPECT_FALSE(marks("after_call", 0, 32));
  EXPECT_TRUE(marks("own_after_call", 0, 0));
}

TEST_F(X86UserInterrupts, AreNotProvedWhereAnExceptionGoesOnAnywhere) {
  open(std::string(RINGSIDE_USER_INTERRUPTS) + "ANYWHERE");
  EXPECT_TRUE(marks("own_after_call", 0, 0));
  memory_->set_gate(3, places_.at("fault"), 0);
  EXPECT_FALSE(marks("own_after_call", 0, 0));
}

TEST_F(X86UserInterrupts, AreNotProvedWhereCodeWritesTheirAddressForAReturn) {
  EXPECT_TRUE(marks("own_after_call", 0, 0));
  open(std::string(RINGSIDE_USER_INTERRUPTS) + "RETURNS");
  EXPECT_FALSE(marks("own_after_call", 0, 0));
  EXPECT_TRUE(marks_exactly("own_entry"));
}

TEST_F(X86UserInterrupts, AreNotProvedByAnExceptionsGateToTheSameCode) {
  memory_->set_gate(3, places_.at("own_entry"), 0);
  EXPECT_FALSE(marks("own_after_call", 0, 0));
}

// An exception's gate would be taken for an interrupt's.
TEST_F(X86UserInterrupts, AreNotShiftedByZerosBeforeTheTable) {
  open(std::string(RINGSIDE_USER_INTERRUPTS) + "COUNTS");
  memory_.emplace(places_.at("idt"));
  memory_->set_bytes_before(32);
  memory_->set_gate(31, places_.at("own_entry"), 0);
  EXPECT_TRUE(entries().empty());  // vector 0 has none
  memory_->set_gate(0, places_.at("stub_0"), 0);
  const std::vector<KernelEntry> found = entries();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].is_interrupts);
  EXPECT_FALSE(found[1].is_interrupts);
}

TEST_F(X86UserInterrupts, NeedAGateOfVector0WhereTheTableMayBeShifted) {
  memory_->set_byte(5, 0);  // not present, and with no handler
  for (const std::size_t at : {0, 1, 6, 7, 8, 9, 10, 11}) memory_->set_byte(at, 0);
  memory_->set_gate(1, places_.at("stub_0"), 0);
  EXPECT_TRUE(entries().empty());
}

TEST(ObjectsNamedIdt, HaveTheWordInTheirName) {
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  std::vector<elf::ElfWriter::Symbol> symbols;
  const std::vector<std::string_view> names{"idt",    "IDT_TABLE",      "theIdt",   "early_idt",
                                            "idt2",   "_ZN4arch3IDTE",  "IdtTable", "width",
                                            "idtype", "_ZN3idt5tableE", "midterm",  "validty"};
  constexpr std::uint64_t kObjects = 0x400000;
  for (const std::string_view name : names)
    symbols.push_back(
        {name, {kObjects + 16 * symbols.size()}, 16, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)});
  const std::vector<std::byte> data(0x100);
  writer.add_segment({kObjects}, data.size(), false, true, data);
  writer.set_symbols(symbols);
  const auto file = elf::ElfFile::from_bytes(writer.write(), "kernel").value();
  std::vector<std::string_view> found;
  for (const IdtObject& object : objects_named_idt(*file))
    found.push_back(names[(object.address.value - kObjects) / 16]);
  const std::vector<std::string_view> expected{"idt",       "IDT_TABLE",     "theIdt",
                                               "early_idt", "idt2",          "_ZN4arch3IDTE",
                                               "IdtTable",  "_ZN3idt5tableE"};
  EXPECT_EQ(found, expected);
}

TEST_F(X86UserInterrupts, NeedATableOfGates) {
  memory_->set_byte(16 * 200, 1);  // a handler without code that is not present
  EXPECT_TRUE(entries().empty());
}

}  // namespace
}  // namespace ringside::guestos
