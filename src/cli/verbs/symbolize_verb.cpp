#include "cli/verbs/symbolize_verb.h"

#include <fmt/core.h>

#include <charconv>
#include <iostream>

#include "base/text.h"
#include "cli/options.h"
#include "cli/symbol_flags.h"
#include "cli/terminal.h"
#include "kernel_image/open_elf.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kFlushSize = 1 << 16;

// A hexadecimal address, with or without 0x.
Result<ImageAddr> parse_address(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  ImageAddr address;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, address.value, 16);
  if (digits.empty() || error != std::errc() || stop != end)
    return fail(ErrorCode::kUsage, "'{}' is not a hexadecimal address", text);
  return address;
}

// One function over its place a frame, innermost first, and an empty line behind the last: what
// llvm-symbolizer prints.
std::string format_frames(const std::vector<symbols::SourceFrame>& frames,
                          symbols::DemangleStyle style) {
  std::string text;
  for (const symbols::SourceFrame& frame : frames)
    text += fmt::format(
        "{}\n{}:{}:{}\n",
        frame.function.empty() ? "??" : printable_line(symbols::demangle(frame.function, style)),
        frame.file.empty() ? "??" : printable_line(frame.file), frame.line, frame.column);
  if (frames.empty()) text = "??\n??:0:0\n";
  return text + "\n";
}

}  // namespace

void SymbolizeVerb::add_options(App& app) {
  app.add_option("-e,--exe,--kernel", file_, "The ELF file, a vmlinux or a program")
      ->type_name("FILE")
      ->required();
  app.add_option("ADDRESS", addresses_,
                 "Hexadecimal, as linked; without any, one a line from standard input");
  add_symbol_flags(app, settings_);
  app.add_flag("-a,--addresses", show_addresses_, "Each address before its frames");
}

Result<void> SymbolizeVerb::run(const std::vector<std::string>&) {
  RINGSIDE_ASSIGN(const auto file, kernel_image::open_elf(file_));
  symbols::Symbolizer symbolizer =
      symbols::open_symbolizer(file, settings_.files(), settings_.inlines());
  if (symbolizer.empty())
    return fail(ErrorCode::kNotFound, "{} has neither symbols nor debug information", file_);

  std::string output;
  const auto flush = [&] {
    print(output);
    output.clear();
    return print_result();
  };
  const auto answer = [&](std::string_view text) -> Result<void> {
    RINGSIDE_ASSIGN(const ImageAddr address, parse_address(text));
    if (show_addresses_) output += fmt::format("{:#x}\n", address.value);
    output += format_frames(symbolizer.lookup(address), settings_.style());
    return output.size() < kFlushSize ? Result<void>{} : flush();
  };
  for (const std::string& text : addresses_) RINGSIDE_TRY(answer(text));
  std::ios::sync_with_stdio(false);
  for (std::string line; addresses_.empty() && std::getline(std::cin, line);) {
    if (!line.empty()) RINGSIDE_TRY(answer(line));
    // A program at the other end of a pipe may wait for the answer before it asks on.
    if (std::cin.rdbuf()->in_avail() <= 0) RINGSIDE_TRY(flush());
  }
  return flush();
}

}  // namespace ringside::cli
