#include "app/redox_layout.h"

#include <algorithm>
#include <optional>

#include "base/whole_number.h"
#include "symbols/demangle.h"
#include "symbols/dwarf/dwarf_types.h"

namespace ringside::app {
namespace {

std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  return whole_number<std::uint64_t>(text.substr(2), 16);
}

struct Found {
  std::string name;  // readable
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // bytes
};

// By its name in the file, else by its readable one or the end of that.
std::optional<Found> find_symbol(const std::string& name, const elf::ElfFile& kernel) {
  const auto all = kernel.all_symbols();
  const auto readable = [](const elf::TableSymbol& symbol) {
    return symbols::demangle(symbol.name, symbols::DemangleStyle::kFull);
  };
  auto symbol = std::find_if(all.begin(), all.end(),
                             [&](const elf::TableSymbol& one) { return one.name == name; });
  if (symbol == all.end())
    symbol = std::find_if(all.begin(), all.end(), [&](const elf::TableSymbol& one) {
      const std::string shown = readable(one);
      return shown == name || shown.ends_with("::" + name);
    });
  if (symbol == all.end()) return std::nullopt;
  return Found{readable(*symbol), symbol->address.value, symbol->size};
}

// Nothing where the kernel has no such map, or its debug information does not say how it is made.
std::optional<engines::ring::RedoxContextTable> context_table(symbols::DwarfTypes& types,
                                                              const elf::ElfFile& kernel,
                                                              std::uint64_t load_bias) {
  constexpr const char* kMap = "kernel::profiling::DBG_ID_MAP";
  const auto symbol = find_symbol(kMap, kernel);
  const auto map = symbol ? types.type_of_variable(kMap) : std::nullopt;
  const auto table = map ? types.part_of(*map, "RawTable<") : std::nullopt;
  const auto inner = table ? types.part_of(table->type, "RawTableInner") : std::nullopt;
  const auto entry = table ? types.type_parameter(table->type, "T") : std::nullopt;
  if (!inner || !entry) return std::nullopt;
  const auto ctrl = types.member(inner->type, "ctrl");
  const auto bucket_mask = types.member(inner->type, "bucket_mask");
  const auto items = types.member(inner->type, "items");
  const auto bytes = types.size_of(*entry);
  const auto id = types.member(*entry, "__0");
  const auto length = types.member(*entry, "__1.len");
  const auto text = types.member(*entry, "__1.xs");
  const bool is_understood = ctrl && bucket_mask && items && bytes && id && length && text;
  if (!is_understood || id->size != sizeof(std::uint32_t)) return std::nullopt;
  engines::ring::RedoxContextTable found;
  found.place = GuestVirt{symbol->address + load_bias + table->offset + inner->offset};
  found.ctrl = ctrl->offset;
  found.bucket_mask = bucket_mask->offset;
  found.items = items->offset;
  found.entry_bytes = *bytes;
  found.id = id->offset;
  found.length = length->offset;
  found.length_bytes = length->size;
  found.text = text->offset;
  found.text_bytes = text->size;
  return found;
}

// A pointer each.
Result<std::optional<std::uint64_t>> array_size_of(const Found& symbol) {
  constexpr std::uint64_t kPointer = 8;
  if (symbol.name != "BUFS" && !symbol.name.ends_with("::BUFS")) return std::nullopt;
  if (symbol.size == 0 || symbol.size % kPointer != 0)
    return fail(ErrorCode::kNotFound,
                "--redox-rings: {} has {} bytes, which is no array of pointers", symbol.name,
                symbol.size);
  return symbol.size / kPointer;
}

}  // namespace

Result<engines::ring::RedoxLayout> redox_layout(const std::string& where,
                                                const std::shared_ptr<const elf::ElfFile>& kernel,
                                                std::uint64_t load_bias) {
  if (!kernel)
    return fail(ErrorCode::kUsage,
                "--redox-rings needs the kernel's file with its debug information: give --kernel "
                "FILE");
  engines::ring::RedoxLayout layout;
  if (const auto address = parse_address(where)) {
    layout.place = GuestVirt{*address};
  } else if (const auto symbol = find_symbol(where, *kernel)) {
    layout.place = GuestVirt{symbol->address + load_bias};
    RINGSIDE_ASSIGN(layout.array_size, array_size_of(*symbol));
  } else {
    return fail(ErrorCode::kNotFound,
                "--redox-rings {}: {} has no such symbol; Redox' is kernel::profiling::BUFS_RAW, "
                "until 2026-04 kernel::profiling::BUFS",
                where, kernel->name());
  }
  const auto types = symbols::DwarfTypes::from_elf(kernel);
  const auto member = [&types](const char* name) {
    return types ? types->member("RingBuffer", name) : std::nullopt;
  };
  const auto buf = member("buf");
  const auto tail = member("tail");
  const auto kernel_samples = member("nmi_kcount");
  const auto user_samples = member("nmi_ucount");
  if (!buf || !tail || !kernel_samples || !user_samples)
    return fail(ErrorCode::kNotFound,
                "--redox-rings: {} has no debug information on RingBuffer's members buf, tail, "
                "nmi_kcount and nmi_ucount; build the kernel with it (debug = true)",
                kernel->name());
  layout.buf = buf->offset;
  layout.tail = tail->offset;
  layout.nmi_kcount = kernel_samples->offset;
  layout.nmi_ucount = user_samples->offset;
  if (const auto words = member("words")) layout.words = words->offset;
  layout.contexts = context_table(*types, *kernel, load_bias);
  return layout;
}

}  // namespace ringside::app
