#include "engines/qmp/hmp_registers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "base/whole_number.h"
#include "engines/gdb/protocol/hex.h"

namespace ringside::engines::qmp {
namespace {

namespace x86 = arch::x86_64;
namespace x32 = arch::i386;
namespace arm = arch::aarch64;
namespace riscv = arch::riscv64;

constexpr std::uint8_t kNone = 0xff;

struct Name {
  std::string_view name;
  std::uint8_t id;
  std::uint8_t base = kNone;  // of a segment register: where its second number belongs
};

// target/i386/cpu-dump.c: a vCPU in a 32-bit code segment has 32-bit names, on x86_64 too.
constexpr std::array<Name, 37> kX86_64{{
    {"RAX", x86::kRax},
    {"RBX", x86::kRbx},
    {"RCX", x86::kRcx},
    {"RDX", x86::kRdx},
    {"RSI", x86::kRsi},
    {"RDI", x86::kRdi},
    {"RBP", x86::kRbp},
    {"RSP", x86::kRsp},
    {"R8", x86::kR8},
    {"R9", x86::kR9},
    {"R10", x86::kR10},
    {"R11", x86::kR11},
    {"R12", x86::kR12},
    {"R13", x86::kR13},
    {"R14", x86::kR14},
    {"R15", x86::kR15},
    {"RIP", x86::kRip},
    {"RFL", x86::kRflags},
    {"EAX", x86::kRax},
    {"EBX", x86::kRbx},
    {"ECX", x86::kRcx},
    {"EDX", x86::kRdx},
    {"ESI", x86::kRsi},
    {"EDI", x86::kRdi},
    {"EBP", x86::kRbp},
    {"ESP", x86::kRsp},
    {"EIP", x86::kRip},
    {"EFL", x86::kRflags},
    {"CS", x86::kCs},
    {"SS", x86::kSs},
    {"CR0", x86::kCr0},
    {"CR2", x86::kCr2},
    {"CR3", x86::kCr3},
    {"CR4", x86::kCr4},
    {"EFER", x86::kEfer},
    {"FS", kNone, x86::kFsBase},
    {"GS", kNone, x86::kGsBase},
}};

constexpr std::array<Name, 18> kI386{{
    {"EAX", x32::kEax},
    {"EBX", x32::kEbx},
    {"ECX", x32::kEcx},
    {"EDX", x32::kEdx},
    {"ESI", x32::kEsi},
    {"EDI", x32::kEdi},
    {"EBP", x32::kEbp},
    {"ESP", x32::kEsp},
    {"EIP", x32::kEip},
    {"EFL", x32::kEflags},
    {"CS", x32::kCs},
    {"SS", x32::kSs},
    {"FS", kNone, x32::kFsBase},
    {"GS", kNone, x32::kGsBase},
    {"CR0", x32::kCr0},
    {"CR2", x32::kCr2},
    {"CR3", x32::kCr3},
    {"CR4", x32::kCr4},
}};

// target/arm/cpu.c. A vCPU in AArch32 state is printed by that state's names.
constexpr std::array<Name, 7> kAArch64{{
    {"PC", arm::kPc},
    {"SP", arm::kSp},
    {"PSTATE", arm::kCpsr},
    {"R13", arm::kSp},
    {"R14", arm::kLr},
    {"R15", arm::kPc},
    {"PSR", arm::kCpsr},
}};

// target/riscv/cpu.c.
constexpr std::array<Name, 8> kRiscv64{{
    {"pc", riscv::kPc},
    {"satp", riscv::kSatp},
    {"mstatus", riscv::kSstatus},
    {"sepc", riscv::kSepc},
    {"scause", riscv::kScause},
    {"stvec", riscv::kStvec},
    {"sscratch", riscv::kSscratch},
    {"stval", riscv::kStval},
}};

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '/';
}

std::optional<Name> find(std::span<const Name> table, std::string_view word) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [word](const Name& entry) { return entry.name == word; });
  if (found == table.end()) return std::nullopt;
  return *found;
}

// X00 … X30, R00 … R12.
std::optional<Name> aarch64_register(std::string_view word) {
  if (auto known = find(kAArch64, word)) return known;
  if (word.size() != 3 || (word[0] != 'X' && word[0] != 'R')) return std::nullopt;
  const auto number = whole_number<unsigned>(word.substr(1));
  if (!number || *number > (word[0] == 'X' ? 30u : 12u)) return std::nullopt;
  return Name{word, static_cast<std::uint8_t>(arm::kX0 + *number)};
}

// x0/zero … x31/t6.
std::optional<Name> riscv64_register(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == word.npos) return find(kRiscv64, word);
  const auto number =
      word[0] == 'x' ? whole_number<unsigned>(word.substr(1, slash - 1)) : std::nullopt;
  if (!number || *number > 31) return std::nullopt;
  return Name{word, static_cast<std::uint8_t>(*number)};
}

std::optional<Name> name_in(Arch arch, std::string_view word) {
  switch (arch) {
    case Arch::kX86_64:
      return find(kX86_64, word);
    case Arch::kI386:
      return find(kI386, word);
    case Arch::kAArch64:
      return aarch64_register(word);
    case Arch::kRiscv64:
      return riscv64_register(word);
    case Arch::kUnknown:
      break;
  }
  return std::nullopt;
}

// Words, one after the other: what lies between them ('=', ' ', '#', brackets …) means nothing.
class Words {
 public:
  explicit Words(std::string_view text) : left_(text) {}
  // Empty at the end.
  std::string_view next() {
    while (!left_.empty() && !is_word(left_.front())) left_.remove_prefix(1);
    std::size_t size = 0;
    while (size < left_.size() && is_word(left_[size])) ++size;
    const std::string_view word = left_.substr(0, size);
    left_.remove_prefix(size);
    return word;
  }
  [[nodiscard]] char separator() const { return left_.empty() ? '\n' : left_.front(); }

 private:
  std::string_view left_;
};

// Reads one vCPU's words after the other.
class Reader {
 public:
  explicit Reader(Arch arch) : arch_(arch) {}

  void read(std::string_view text) {
    Words words(text);
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      if (word == "CPU" && words.separator() == '#') {
        begin(words.next());
      } else if (!vcpus_.empty()) {
        take(word, words);
      }
    }
    finish();
  }
  std::vector<PrintedVcpu> take_vcpus() { return std::move(vcpus_); }

 private:
  void begin(std::string_view number) {
    finish();
    const auto value = whole_number<unsigned>(number);
    if (!value || *value > std::numeric_limits<std::uint16_t>::max()) return;
    vcpus_.push_back({VcpuId{static_cast<std::uint16_t>(*value)}, {}, false});
    of_machine_mode_ = {};
  }

  void take(std::string_view word, Words& words) {
    PrintedVcpu& vcpu = vcpus_.back();
    const auto known = name_in(arch_, word);
    const bool is_halted = word == "HLT";
    const bool is_mtvec = arch_ == Arch::kRiscv64 && word == "mtvec";
    const bool is_mepc = arch_ == Arch::kRiscv64 && word == "mepc";
    if (!known && !is_halted && !is_mtvec && !is_mepc) return;
    const auto value = gdb::parse_hex_number(words.next());
    if (!value) return;
    if (is_halted) vcpu.halted = *value != 0;
    if (is_mtvec) of_machine_mode_.set(riscv::kStvec, *value);
    if (is_mepc) of_machine_mode_.set(riscv::kSepc, *value);
    if (!known) return;
    if (known->id != kNone) vcpu.registers.set(known->id, *value);
    if (known->base == kNone) return;
    if (const auto base = gdb::parse_hex_number(words.next()))
      vcpu.registers.set(known->base, *base);
  }

  void finish() {
    if (vcpus_.empty() || arch_ != Arch::kRiscv64) return;
    arch::Registers& registers = vcpus_.back().registers;
    if (!registers.has(riscv::kPc) || !registers.has(riscv::kSatp)) return;
    const std::uint64_t mode = riscv64_mode(registers);
    registers.set(riscv::kPriv, mode);
    // The fields of mstatus that sstatus shows (The RISC-V Instruction Set Manual, volume
    // II, 4.1.1).
    constexpr std::uint64_t kSstatusFields = 0x80000003000de762;
    if (mode != kMachine && registers.has(riscv::kSstatus))
      registers.set(riscv::kSstatus, registers.get(riscv::kSstatus) & kSstatusFields);
    for (const std::uint8_t reg : {riscv::kSepc, riscv::kStvec})
      if (mode == kMachine && of_machine_mode_.has(reg))
        registers.set(reg, of_machine_mode_.get(reg));
  }

  // One file may have both vectors, of a kernel that keeps the machine's timer for itself: most of
  // it runs in supervisor mode.
  [[nodiscard]] std::uint64_t riscv64_mode(const arch::Registers& registers) const {
    constexpr std::uint64_t kFirmwareReach = 2u << 20;
    constexpr std::uint64_t kKernelReach = 64u << 20;
    constexpr std::uint64_t kOneFile = 128u << 10;
    const std::uint64_t pc = registers.get(riscv::kPc);
    if (pc >> 63 != 0) return kSupervisor;
    const std::uint64_t stvec = registers.has(riscv::kStvec) ? registers.get(riscv::kStvec) : 0;
    const std::uint64_t from_supervisors = stvec == 0 ? kFar : distance(pc, stvec);
    const bool has_mtvec = of_machine_mode_.has(riscv::kStvec);
    const std::uint64_t mtvec = has_mtvec ? of_machine_mode_.get(riscv::kStvec) : 0;
    const std::uint64_t from_machines = has_mtvec ? distance(pc, mtvec) : kFar;
    const bool is_one_file = stvec != 0 && has_mtvec && distance(stvec, mtvec) < kOneFile;
    if (from_machines < kFirmwareReach && from_machines <= from_supervisors && !is_one_file)
      return kMachine;
    if (from_supervisors < kKernelReach) return kSupervisor;
    return registers.get(riscv::kSatp) == 0 ? kMachine : kUser;
  }

  static std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

  static constexpr std::uint64_t kFar = ~std::uint64_t{0};
  static constexpr std::uint64_t kUser = 0;
  static constexpr std::uint64_t kSupervisor = 1;
  static constexpr std::uint64_t kMachine = 3;
  Arch arch_;
  std::vector<PrintedVcpu> vcpus_;
  arch::Registers of_machine_mode_;  // of the last: mtvec and mepc, as stvec and sepc
};

}  // namespace

std::vector<PrintedVcpu> parse_info_registers(Arch arch, std::string_view text) {
  Reader reader(arch);
  reader.read(text);
  return reader.take_vcpus();
}

}  // namespace ringside::engines::qmp
