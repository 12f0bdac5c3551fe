#include "symbols/kallsyms/kallsyms.h"

namespace ringside::symbols::kallsyms {
namespace {

constexpr std::size_t kMaxName = 1024;  // KSYM_NAME_LEN is 512 since Linux 6.1
constexpr std::size_t kMaxText = std::size_t{256} << 20;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Places that may be looked at: a second's work, some 50 times what a kernel needs.
constexpr std::uint64_t kBudget = std::uint64_t{1} << 28;

}  // namespace

Result<Tables> find_tables(Bytes bytes, unsigned pointer_size) {
  const char* missing = "token table";
  std::uint64_t budget = kBudget;
  for (std::size_t from = 0; budget > 0;) {
    auto tokens = find_token_table(bytes, from);
    if (!tokens) break;
    from = tokens->end;
    missing = "table of names in front of the tokens";
    const auto names = find_names(bytes, *tokens, pointer_size, budget);
    if (!names) continue;
    missing = "table of addresses";
    const auto addresses = find_addresses(bytes, *names, *tokens, pointer_size);
    if (addresses) return Tables{.tokens = *tokens, .names = *names, .addresses = *addresses};
  }
  return fail(ErrorCode::kNotFound,
              "no kallsyms in {:#x} bytes: no {} (a kernel without CONFIG_KALLSYMS, or not a Linux "
              "kernel)",
              bytes.size(), missing);
}

Result<SymbolList> decode(Bytes bytes, const Tables& tables, std::uint64_t bytes_address,
                          std::uint64_t base) {
  const NameTable& names = tables.names;
  if (tables.addresses.relative_base != 0) base = tables.addresses.relative_base;
  SymbolList list;
  list.symbols.resize(names.count);
  auto text = std::make_shared<std::string>();
  text->reserve(std::size_t{names.count} * 24);
  std::vector<std::size_t> starts(std::size_t{names.count} + 1);
  std::size_t at = names.begin;
  for (std::size_t i = 0; i < names.count; ++i) {
    const std::size_t start = text->size();
    const auto codes = next_name(bytes, at, names.long_lengths);
    if (!codes) return fail(ErrorCode::kTruncated, "kallsyms: name {} is cut off", i);
    for (const std::byte code : *codes) {
      text->append(tables.tokens.tokens[std::to_integer<std::size_t>(code)]);
      if (text->size() - start > kMaxName)
        return fail(ErrorCode::kFormat, "kallsyms: name {} has more than {} letters", i, kMaxName);
    }
    if (text->size() == start || !is_letter((*text)[start]))
      return fail(ErrorCode::kFormat, "kallsyms: name {} at {:#x} has no type", i, at);
    if (text->size() > kMaxText)
      return fail(ErrorCode::kFormat, "kallsyms: names of more than {} MiB", kMaxText >> 20);
    starts[i] = start;
  }
  starts[names.count] = text->size();
  const std::string_view all = *text;
  for (std::size_t i = 0; i < names.count; ++i)
    list.symbols[i] = {{tables.addresses.at(bytes, i, base, bytes_address)},
                       all[starts[i]],
                       all.substr(starts[i] + 1, starts[i + 1] - starts[i] - 1),
                       {}};
  list.text = std::move(text);
  return list;
}

Result<SymbolList> symbols_of(const elf::ElfFile& file) {
  const unsigned pointer_size = file.is_64() ? 8 : 4;
  const auto try_bytes = [&](Bytes bytes, ImageAddr address) -> Result<SymbolList> {
    RINGSIDE_ASSIGN(const Tables tables, find_tables(bytes, pointer_size));
    return decode(bytes, tables, address.value, file.segments().front().address.value);
  };
  if (file.segments().empty()) return fail(ErrorCode::kNotFound, "{} has no segments", file.name());
  if (const auto section = file.section(".rodata"))
    if (auto list = try_bytes(section->bytes, section->address)) return list;
  for (const elf::Segment& segment : file.segments()) {
    const Bytes bytes = file.bytes_at(segment.address, segment.file_size);
    if (auto list = try_bytes(bytes, segment.address)) return list;
  }
  return fail(ErrorCode::kNotFound,
              "{} has no kallsyms (a kernel without CONFIG_KALLSYMS, or not a Linux kernel)",
              file.name());
}

}  // namespace ringside::symbols::kallsyms
