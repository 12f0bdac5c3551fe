#include "guestos/linux/tasks/clock.h"

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "guestos/linux/types/field_finder.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

template <class T>
Result<std::optional<T>> if_of_memory(const Error& error) {
  if (is_of_memory(error.code)) return std::optional<T>();
  return tl::unexpected<Error>(error);
}

}  // namespace

Result<ClockFields> ClockFields::of(const elf::ElfFile& kernel, const TypeSource& types) {
  FieldFinder find(types);
  StructFinder keeper(find, "timekeeper");
  ClockFields fields;
  fields.seconds = keeper.need("xtime_sec");
  fields.fraction = keeper.need("tkr_mono.xtime_nsec");
  fields.shift = keeper.need("tkr_mono.shift");
  fields.real_offset = keeper.need("offs_real");
  fields.boot_offset = keeper.need("offs_boot");
  fields.bytes = keeper.extent();
  RINGSIDE_TRY(find.result(kernel.name()));
  if (const auto inside = find.maybe("tk_data", {"timekeeper"})) {  // Linux 6.13 and later
    fields.start = inside->offset;
  } else {
    const auto count = types.size_of("seqcount_raw_spinlock_t").value_or(4);
    const std::uint32_t align = arch::roles_of(kernel.arch()).pointer_size;
    fields.start = (static_cast<std::uint32_t>(count) + align - 1) / align * align;
  }
  return fields;
}

Result<std::optional<GuestClock>> read_clock(const elf::Image& kernel, const ClockFields& fields,
                                             const KernelReader& read) {
  const auto variable = kernel.file->symbol_named("tk_core");
  if (!variable) return std::nullopt;
  const auto keeper = read.object(kernel.to_guest(variable->address) + fields.start, fields.bytes,
                                  "struct timekeeper");
  if (!keeper) return if_of_memory<GuestClock>(keeper.error());
  const std::uint64_t shift = keeper->number(fields.shift) & 63;
  const std::uint64_t seconds = keeper->number(fields.seconds);
  const std::uint64_t fraction = keeper->number(fields.fraction) >> shift;
  if (seconds > std::uint64_t{1} << 33 || fraction > 2 * kSecond) return std::nullopt;
  GuestClock clock;
  clock.real_ns = seconds * kSecond + fraction;
  clock.boot_ns =
      clock.real_ns - keeper->number(fields.real_offset) + keeper->number(fields.boot_offset);
  if (clock.boot_ns > clock.real_ns) return std::nullopt;
  return clock;
}

Result<std::optional<std::uint64_t>> read_memory_size(const elf::Image& kernel,
                                                      const KernelReader& read,
                                                      std::uint64_t page_size) {
  const auto variable = kernel.file->symbol_named("_totalram_pages");
  if (!variable) return std::nullopt;
  const auto pages = read.pointer(kernel.to_guest(variable->address));
  if (!pages) return if_of_memory<std::uint64_t>(pages.error());
  return pages->value * page_size;
}

}  // namespace ringside::guestos
