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

std::optional<std::uint64_t> find_symbol(const std::string& name, const elf::ElfFile& kernel) {
  if (const auto symbol = kernel.symbol_named(name)) return symbol->address.value;
  for (const elf::TableSymbol& symbol : kernel.all_symbols()) {
    const std::string readable = symbols::demangle(symbol.name, symbols::DemangleStyle::kFull);
    if (readable == name || readable.ends_with("::" + name)) return symbol.address.value;
  }
  return std::nullopt;
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
    layout.slice = GuestVirt{*address};
  } else if (const auto symbol = find_symbol(where, *kernel)) {
    layout.slice = GuestVirt{*symbol + load_bias};
  } else {
    return fail(ErrorCode::kNotFound,
                "--redox-rings {}: {} has no such symbol; Redox' is kernel::profiling::BUFS_RAW",
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
  return layout;
}

}  // namespace ringside::app
