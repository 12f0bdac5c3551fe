#include "exporters/trace_dat/stack_events.h"

#include <fmt/core.h>

#include "exporters/parts/binary.h"
#include "exporters/trace_dat/safe_text.h"

namespace ringside::exporters::trace_dat {
namespace {

// enum trace_type in kernel/trace/trace.h of Linux 6.1.
constexpr std::uint16_t kKernelStack = 4;
constexpr std::uint16_t kUserStack = 12;

constexpr std::size_t kCallersOffset = 16;
constexpr std::uint64_t kEndMark = ~std::uint64_t{0};
constexpr std::size_t kMostCallers = (kMostEvent - kCallersOffset) / sizeof(std::uint64_t) - 1;

constexpr std::size_t kTextOffset = 16;
constexpr std::size_t kMostText = kMostEvent - kTextOffset - 1;
constexpr std::size_t kMostName = 1000;
constexpr std::string_view kUserTitle = "<user stack trace>";

}  // namespace

std::vector<std::string> StackEvents::formats() {
  return {fmt::format("name: kernel_stack\nID: {}\nformat:\n{}"
                      "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
                      "\tfield:unsigned long caller[8];\toffset:{};\tsize:64;\tsigned:0;\n\n"
                      "print fmt: \"=> %ps (%d frames)\", (void *)REC->caller[0], REC->size\n",
                      kKernelStack, common_fields(), kCallersOffset),
          fmt::format("name: user_stack\nID: {}\nformat:\n{}"
                      "\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
                      "\tfield:__data_loc char[] frames;\toffset:12;\tsize:4;\tsigned:0;\n\n"
                      "print fmt: \"%s\", __get_str(frames)\n",
                      kUserStack, common_fields())};
}

Result<void> StackEvents::add(std::uint64_t time, std::uint32_t group, const Task& task,
                              RingBuffer& buffer) {
  if (profile_.owner_of(group).disposition != wire::Disposition::kSampled) return {};
  for (const profile::StackEntry& entry : profile_.stack_of(group)) {
    const std::uint64_t address = names_.address_of(entry);
    if (address != 0) {
      RINGSIDE_TRY(write_lines(time, task, buffer));
      callers_.push_back(address);
      if (callers_.size() == kMostCallers) RINGSIDE_TRY(write_callers(time, task, buffer));
    } else {
      RINGSIDE_TRY(write_callers(time, task, buffer));
      const std::string& lines =
          lines_.of(entry, [&] { return make_lines(profile_.frame(entry)); });
      if (kUserTitle.size() + text_.size() + lines.size() > kMostText)
        RINGSIDE_TRY(write_lines(time, task, buffer));
      text_ += lines;
    }
  }
  RINGSIDE_TRY(write_callers(time, task, buffer));
  return write_lines(time, task, buffer);
}

Result<void> StackEvents::write_callers(std::uint64_t time, const Task& task, RingBuffer& buffer) {
  if (callers_.empty()) return {};
  begin_event(bytes_, kKernelStack, task);
  exporters::add(bytes_, static_cast<std::int32_t>(callers_.size()));
  bytes_.resize(kCallersOffset);
  callers_.push_back(kEndMark);
  bytes_.append(reinterpret_cast<const char*>(callers_.data()),
                callers_.size() * sizeof callers_.front());
  callers_.clear();
  return buffer.add(time, bytes_);
}

Result<void> StackEvents::write_lines(std::uint64_t time, const Task& task, RingBuffer& buffer) {
  if (text_.empty()) return {};
  begin_event(bytes_, kUserStack, task);
  exporters::add(bytes_, task.process);
  const std::size_t size = kUserTitle.size() + text_.size() + 1;
  exporters::add(bytes_, static_cast<std::uint32_t>(size << 16 | kTextOffset));
  bytes_ += kUserTitle;
  bytes_ += text_;
  bytes_ += '\0';
  text_.clear();
  return buffer.add(time, bytes_);
}

// As trace-cmd shows the kernel's: "\n=> name (address)". Inlined functions have their caller's
// address.
std::string StackEvents::make_lines(const profile::DetailedFrame& frame) const {
  std::string lines;
  for (std::size_t i = frame.functions.size(); i-- > 0;) {
    const std::string_view name = profile_.profile().name(frame.functions[i]);
    lines += fmt::format("\n=> {} ({:x})", fitting(name, kMostName), frame.address.value);
  }
  return lines;
}

}  // namespace ringside::exporters::trace_dat
