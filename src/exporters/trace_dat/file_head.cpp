#include "exporters/trace_dat/file_head.h"

#include <limits>

#include "base/text.h"
#include "exporters/parts/binary.h"
#include "exporters/trace_dat/ring_buffer.h"

namespace ringside::exporters::trace_dat {
namespace {

using namespace std::string_view_literals;

// Bytes of a "long", which callers in stacks are.
constexpr std::uint8_t kLongSize = 8;

// The layout that RingBuffer writes, as events/header_page and events/header_event of Linux 6.1 on
// x86_64 describe it (ring_buffer_print_page_header() and ring_buffer_print_entry_header() in
// kernel/trace/ring_buffer.c).
constexpr std::string_view kHeaderPage =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
constexpr std::string_view kHeaderEvent =
    "# compressed entry header\n"
    "\ttype_len    :    5 bits\n"
    "\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n"
    "\n"
    "\tpadding     : type == 29\n"
    "\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n"
    "\tdata max type_len  == 28\n";

// The clocks of tracing/trace_clock; the one in brackets is in use. Readers show no fractions of a
// second for clocks that they do not know.
constexpr std::string_view kClocks = "local global [mono]\n";

// TRACECMD_OPTION_… in lib/trace-cmd/include/private/trace-cmd-private.h of trace-cmd 3.1.
enum class Option : std::uint16_t { kDone = 0, kTraceClock = 4, kUname = 5, kVersion = 9 };

void add_sized(std::string& bytes, std::string_view text) {
  add(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
}

void add_option(std::string& bytes, Option option, std::string_view text) {
  add(bytes, static_cast<std::uint16_t>(option));
  add(bytes, static_cast<std::uint32_t>(text.size() + 1));
  bytes += text;
  bytes += '\0';
}

// One line of a text that is shown as it is.
std::string line_of(std::string_view text) {
  constexpr std::size_t kMost = 1000;
  return printable_line(text.substr(0, kMost));
}

}  // namespace

Result<FileHead> make_head(const HeadTexts& texts, const recording::Header& header,
                           std::uint32_t processors) {
  if (texts.kallsyms.size() > std::numeric_limits<std::uint32_t>::max())
    return fail(ErrorCode::kUnsupported, "trace.dat has no room for names of {} bytes",
                texts.kallsyms.size());
  FileHead head;
  std::string& bytes = head.bytes;
  bytes = "\x17\x08\x44tracing6\0\0"sv;  // the last byte: least significant bytes come first
  add(bytes, kLongSize);
  add(bytes, static_cast<std::uint32_t>(kPageSize));
  bytes += "header_page\0"sv;
  add_sized(bytes, kHeaderPage);
  bytes += "header_event\0"sv;
  add_sized(bytes, kHeaderEvent);
  add(bytes, static_cast<std::uint32_t>(texts.ftrace_formats.size()));
  for (const std::string& format : texts.ftrace_formats) add_sized(bytes, format);
  add(bytes, std::uint32_t{1});  // systems of events
  bytes += "ringside\0"sv;
  add(bytes, static_cast<std::uint32_t>(texts.formats.size()));
  for (const std::string& format : texts.formats) add_sized(bytes, format);
  add(bytes, static_cast<std::uint32_t>(texts.kallsyms.size()));
  bytes += texts.kallsyms;
  add(bytes, std::uint32_t{0});  // bytes of formats of trace_printk()
  add_sized(bytes, texts.command_lines);
  add(bytes, processors);
  bytes += "options  \0"sv;
  add_option(bytes, Option::kTraceClock, kClocks);
  const std::string& release =
      header.kernel_release.empty() ? header.kernel : header.kernel_release;
  if (!release.empty()) add_option(bytes, Option::kUname, line_of(release));
  add_option(bytes, Option::kVersion, line_of("ringside " + header.ringside_version));
  add(bytes, static_cast<std::uint16_t>(Option::kDone));
  bytes += "flyrecord\0"sv;
  head.table_at = bytes.size();
  bytes += std::string(std::size_t{processors} * 2 * sizeof(std::uint64_t), '\0');
  add_sized(bytes, kClocks);  // once more: readers expect it where there is the option
  bytes.resize((bytes.size() + kPageSize - 1) / kPageSize * kPageSize);
  return head;
}

std::string processor_table(std::span<const std::uint64_t> sizes, std::uint64_t start) {
  std::string bytes;
  for (const std::uint64_t size : sizes) {
    add(bytes, start);
    add(bytes, size);
    start += size;
  }
  return bytes;
}

}  // namespace ringside::exporters::trace_dat
