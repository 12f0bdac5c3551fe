#include "exporters/trace_dat/task.h"

#include <fmt/core.h>

#include <map>
#include <span>

#include "exporters/parts/binary.h"
#include "exporters/parts/thread_numbers.h"
#include "exporters/trace_dat/safe_text.h"
#include "views/owner.h"

namespace ringside::exporters::trace_dat {
namespace {

// TRACE_FLAG_HARDIRQ in kernel/trace/trace.h of Linux 6.1: `trace-cmd report -l` shows an "h".
constexpr std::uint8_t kInInterrupt = 0x08;

}  // namespace

std::string mode_list() {
  std::string list;
  for (std::size_t level = 0; level < kPrivilegeLevelCount; ++level)
    list += fmt::format("{{ {}, \"{}\" }}, ", level,
                        views::level_name(static_cast<PrivilegeLevel>(level)));
  return list + fmt::format("{{ {}, \"interrupt\" }}, {{ {}, \"idle\" }}",
                            static_cast<int>(Mode::kInterrupt), static_cast<int>(Mode::kIdle));
}

Tasks::Tasks(profile::DetailedProfile& profile)
    : profile_(profile), are_in_interrupt_(profile.group_count()) {
  for (std::uint32_t group = 0; group < profile.group_count(); ++group) {
    if (!profile.has_group(group)) continue;
    const std::span<const profile::StackEntry> stack = profile.stack_of(group);
    are_in_interrupt_[group] =
        !stack.empty() && profile.frame(stack.front()).kind == profile::Kind::kInterrupt;
  }
}

Task Tasks::of(std::uint32_t group) const {
  const profile::Owner& owner = profile_.owner_of(group);
  const ThreadNumbers thread = thread_of(owner);
  Task task{static_cast<std::int32_t>(thread.tid), static_cast<std::int32_t>(thread.pid),
            comm_of(profile_, owner), static_cast<Mode>(owner.level)};
  if (owner.disposition == wire::Disposition::kIdle) task.mode = Mode::kIdle;
  if (are_in_interrupt_[group]) task.mode = Mode::kInterrupt;
  return task;
}

std::string saved_command_lines(const profile::DetailedProfile& profile) {
  std::map<std::int32_t, std::string_view> names;
  for (const profile::Owner& owner : profile.profile().owners)
    names[static_cast<std::int32_t>(thread_of(owner).tid)] = comm_of(profile, owner);
  std::string lines;
  for (const auto& [thread, name] : names)
    if (thread != 0) lines += fmt::format("{} {}\n", thread, command_line_name(name));
  return lines;
}

std::string common_fields() {
  return "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
         "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
         "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
         "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
}

void begin_event(std::string& bytes, std::uint16_t number, const Task& task) {
  bytes.clear();
  add(bytes, number);
  add(bytes, task.mode == Mode::kInterrupt ? kInInterrupt : std::uint8_t{0});
  add(bytes, std::uint8_t{0});
  add(bytes, task.thread);
}

}  // namespace ringside::exporters::trace_dat
