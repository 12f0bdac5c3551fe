#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/figures.h"
#include "findings/findings.h"

namespace ringside::findings {
namespace {

using recording::PartStops;
using Sentences = std::vector<std::string>;

constexpr std::uint64_t kMattersFrom = 5;  // percent

bool matters(std::uint64_t part, std::uint64_t all) { return part * 100 > all * kMattersFrom; }

// Causes of a broken stack; the advice depends on these alone.
enum class Cause {
  kCopy,       // the stack is longer than what was copied of it
  kNoCopy,     // nothing was copied of the stack that it goes on on
  kRegisters,  // nothing to begin with
  kDepth,      // of_cut_stacks() has sentences for these
  kRules,      // where the caller is cannot be found out
};

Cause cause_of(StopReason reason) {
  if (lacks_rule(reason)) return Cause::kRules;
  if (reason == StopReason::kTruncated) return Cause::kCopy;
  if (reason == StopReason::kNotCopied) return Cause::kNoCopy;
  return reason == StopReason::kTooDeep ? Cause::kDepth : Cause::kRegisters;
}

enum class Part { kKernel, kUser };

const PartStops& stops(const StackFacts& stacks, Part part) {
  return part == Part::kUser ? stacks.user : stacks.kernel;
}

// The cause of most broken stacks of a part, where they are many.
bool is(const StackFacts& stacks, Part part, Cause cause) {
  const PartStops& ends = stops(stacks, part);
  if (stacks.is_filtered || !matters(ends.total() - ends.complete(), ends.total())) return false;
  std::map<Cause, std::uint64_t> causes;
  for (std::size_t i = 0; i < ends.stops.size(); ++i) {
    const auto reason = static_cast<StopReason>(i);
    if (!is_complete(reason)) causes[cause_of(reason)] += ends.stops[i];
  }
  const auto most =
      std::max_element(causes.begin(), causes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most != causes.end() && most->first == cause;
}

// ringside has walked the stacks, each as it was at one moment.
bool is_walked(const StackFacts& stacks) { return stacks.depth_limit && !stacks.is_torn; }

// Where most walks of a part break off for want of a rule; null where that is in no function.
const BrokenPlace* place(const StackFacts& stacks, Part part) {
  const BrokenPlace* most = nullptr;
  for (const BrokenPlace& one : stacks.places)
    if (one.is_user == (part == Part::kUser) && (most == nullptr || one.samples > most->samples))
      most = &one;
  return most;
}

// … and that is so.
template <Part part, class Condition>
bool ends_at(const StackFacts& stacks, Condition condition) {
  const BrokenPlace* const most = place(stacks, part);
  return is(stacks, part, Cause::kRules) && is_walked(stacks) && most != nullptr &&
         condition(*most);
}

std::string broken(const StackFacts& stacks, Part part, const std::string& why) {
  const PartStops& ends = stops(stacks, part);
  const std::uint64_t count = ends.total() - ends.complete();
  return fmt::format("{} of {} {} stacks ({}%) are not complete; {}", format_count(count),
                     format_count(ends.total()), part == Part::kUser ? "user" : "kernel",
                     format_percent(count, ends.total()), why);
}

std::string broken_at_place(const StackFacts& stacks, Part part, const std::string& advice) {
  const BrokenPlace& most = *place(stacks, part);
  // A function without a symbol is called after its image.
  const bool shows_image = !most.image.empty() && !most.function.starts_with(most.image);
  return broken(stacks, part,
                fmt::format("{} of these end in {}{} ({}): {}", format_count(most.samples),
                            most.function, shows_image ? fmt::format(" [{}]", most.image) : "",
                            name_of(most.reason), advice));
}

template <Part part>
bool is_copied_in_part(const StackFacts& stacks) {
  return is(stacks, part, Cause::kCopy) && stacks.depth_limit;
}
template <Part part>
Sentences copied_in_part(const StackFacts& stacks) {
  return {
      broken(stacks, part,
             "most of these are longer than the copied part: record with a larger --stack-bytes")};
}

template <Part part>
bool is_not_copied(const StackFacts& stacks) {
  return is(stacks, part, Cause::kNoCopy) && stacks.depth_limit;
}
template <Part part>
Sentences not_copied(const StackFacts& stacks) {
  return {
      broken(stacks, part,
             "most of these go on on a stack that was not copied: the first samples may show where "
             "it is, and later ones have it then; record for longer")};
}

// A guest, or another profiler, has walked them: how is not known.
template <Part part>
bool is_as_recorded(const StackFacts& stacks) {
  return !stacks.depth_limit &&
         (is(stacks, part, Cause::kRules) || is(stacks, part, Cause::kCopy) ||
          is(stacks, part, Cause::kNoCopy));
}
template <Part part>
Sentences as_recorded(const StackFacts& stacks) {
  return {broken(stacks, part, "they were recorded so")};
}

template <Part part>
bool has_no_registers(const StackFacts& stacks) {
  return is(stacks, part, Cause::kRegisters);
}
template <Part part>
Sentences without_registers(const StackFacts& stacks) {
  return {broken(stacks, part,
                 "most of these have no registers: firmware was saving them, no code ran, or the "
                 "stub gives none; if that is not QEMU's, attach otherwise (--qmp, --engine)")};
}

template <Part part>
bool has_no_frames(const StackFacts& stacks) {
  return is(stacks, part, Cause::kRules) && is_walked(stacks) && place(stacks, part) == nullptr;
}
template <Part part>
Sentences without_frames(const StackFacts& stacks) {
  return {broken(stacks, part, "most of these have no frame")};
}

// Where such a walk breaks off shows nothing of the code there.
template <Part part>
bool is_torn(const StackFacts& stacks) {
  return is(stacks, part, Cause::kRules) && stacks.depth_limit && stacks.is_torn;
}
template <Part part>
Sentences torn(const StackFacts& stacks) {
  return {broken(stacks, part,
                 "the guest was not stopped for samples, so that registers and stacks are of "
                 "different moments: record without --no-stop")};
}

template <Part part>
bool ends_in_no_image(const StackFacts& stacks) {
  return ends_at<part>(stacks, [](const BrokenPlace& at) { return at.image.empty(); });
}
Sentences kernel_in_no_image(const StackFacts& stacks) {
  return {broken_at_place(
      stacks, Part::kKernel,
      "that code is in no known image: record with the guest's own kernel (--kernel FILE)")};
}
Sentences user_in_no_image(const StackFacts& stacks) {
  return {broken_at_place(
      stacks, Part::kUser,
      std::string("that code is in no program or library that was found") +
          (stacks.is_linux ? ""
                           : ": name the guest's programs (--programs DIR, --user-elf FILE)"))};
}

template <Part part>
bool ends_beside_tables(const StackFacts& stacks) {
  return ends_at<part>(stacks,
                       [](const BrokenPlace& at) { return !at.image.empty() && at.has_tables; });
}
template <Part part>
Sentences beside_tables(const StackFacts& stacks) {
  return {broken_at_place(
      stacks, part,
      fmt::format("{} has unwind information, but not of that code, and a frame pointer leads to "
                  "no caller there: -fasynchronous-unwind-tables or -fno-omit-frame-pointer gives "
                  "it one (assembly: .cfi directives)",
                  place(stacks, part)->image))};
}

template <Part part>
bool ends_without_tables(const StackFacts& stacks) {
  return ends_at<part>(stacks, [](const BrokenPlace& at) {
    return !at.image.empty() && !at.has_tables && at.has_file;
  });
}
Sentences kernel_without_tables(const StackFacts& stacks) {
  return {broken_at_place(
      stacks, Part::kKernel,
      fmt::format("no unwind information of {} was of use there, and a frame pointer leads to no "
                  "caller: a file with debug information (--kernel) helps; if it has neither, "
                  "build it with -fno-omit-frame-pointer",
                  place(stacks, Part::kKernel)->image))};
}
Sentences user_without_tables(const StackFacts& stacks) {
  return {broken_at_place(
      stacks, Part::kUser,
      fmt::format("no unwind information of {} was of use there, and a frame pointer leads to no "
                  "caller: if it has neither, build it with -fno-omit-frame-pointer or "
                  "-fasynchronous-unwind-tables",
                  place(stacks, Part::kUser)->image))};
}

template <Part part>
bool ends_without_file(const StackFacts& stacks) {
  return ends_at<part>(stacks, [](const BrokenPlace& at) {
    return !at.image.empty() && !at.has_tables && !at.has_file;
  });
}
Sentences kernel_without_file(const StackFacts& stacks) {
  return {
      broken_at_place(stacks, Part::kKernel,
                      "the recorder had no file of the kernel: record with it (--kernel FILE)")};
}
Sentences user_without_file(const StackFacts& stacks) {
  return {broken_at_place(stacks, Part::kUser,
                          fmt::format("{} was read from the guest's memory, without a file",
                                      place(stacks, Part::kUser)->image))};
}

// User code of no known process is one frame, which is complete as far as that goes.
std::uint64_t nameless(const StackFacts& stacks) {
  return stacks.user.stops[static_cast<std::size_t>(StopReason::kUser)];
}
bool has_nameless(const StackFacts& stacks) {
  return !stacks.is_filtered && matters(nameless(stacks), stacks.unwound);
}
Sentences of_no_process(const StackFacts& stacks, const char* advice) {
  return {fmt::format(
      "{} of {} samples ({}%) are user code of no known process, of which only one frame is known: "
      "{}",
      format_count(nameless(stacks)), format_count(stacks.unwound),
      format_percent(nameless(stacks), stacks.unwound), advice)};
}

constexpr Finding<StackFacts> kOfBrokenStacks[] = {
    {"kernel-copied-in-part", is_copied_in_part<Part::kKernel>, copied_in_part<Part::kKernel>},
    {"kernel-not-copied", is_not_copied<Part::kKernel>, not_copied<Part::kKernel>},
    {"kernel-as-recorded", is_as_recorded<Part::kKernel>, as_recorded<Part::kKernel>},
    {"kernel-without-registers", has_no_registers<Part::kKernel>, without_registers<Part::kKernel>},
    {"kernel-without-frames", has_no_frames<Part::kKernel>, without_frames<Part::kKernel>},
    {"kernel-torn", is_torn<Part::kKernel>, torn<Part::kKernel>},
    {"kernel-in-no-image", ends_in_no_image<Part::kKernel>, kernel_in_no_image},
    {"kernel-beside-tables", ends_beside_tables<Part::kKernel>, beside_tables<Part::kKernel>},
    {"kernel-without-tables", ends_without_tables<Part::kKernel>, kernel_without_tables},
    {"kernel-without-file", ends_without_file<Part::kKernel>, kernel_without_file},
    {"user-copied-in-part", is_copied_in_part<Part::kUser>, copied_in_part<Part::kUser>},
    {"user-not-copied", is_not_copied<Part::kUser>, not_copied<Part::kUser>},
    {"user-as-recorded", is_as_recorded<Part::kUser>, as_recorded<Part::kUser>},
    {"user-without-registers", has_no_registers<Part::kUser>, without_registers<Part::kUser>},
    {"user-without-frames", has_no_frames<Part::kUser>, without_frames<Part::kUser>},
    {"user-torn", is_torn<Part::kUser>, torn<Part::kUser>},
    {"user-in-no-image", ends_in_no_image<Part::kUser>, user_in_no_image},
    {"user-beside-tables", ends_beside_tables<Part::kUser>, beside_tables<Part::kUser>},
    {"user-without-tables", ends_without_tables<Part::kUser>, user_without_tables},
    {"user-without-file", ends_without_file<Part::kUser>, user_without_file},
    {"linux-process-unknown",
     [](const StackFacts& stacks) { return has_nameless(stacks) && stacks.is_linux; },
     [](const StackFacts& stacks) {
       return of_no_process(stacks,
                            "the kernel's debug symbols (--kernel vmlinux) say where it keeps its "
                            "processes");
     }},
    {"process-unknown",
     [](const StackFacts& stacks) { return has_nameless(stacks) && !stacks.is_linux; },
     [](const StackFacts& stacks) {
       return of_no_process(stacks, "name the guest's programs (--programs DIR, --user-elf FILE)");
     }},
};

Sentences too_deep(const StackFacts& stacks, const std::string& limit) {
  return {
      fmt::format("{} of {} stacks ({}%) are deeper than {}: their outermost callers are cut "
                  "off",
                  format_count(stacks.too_deep), format_count(stacks.unwound),
                  format_percent(stacks.too_deep, stacks.unwound), limit)};
}

constexpr Finding<StackFacts> kOfCutStacks[] = {
    {"deeper-than-ringside",
     [](const StackFacts& stacks) { return stacks.too_deep != 0 && stacks.depth_limit; },
     [](const StackFacts& stacks) {
       return too_deep(stacks, fmt::format("ringside's limit of {} frames", *stacks.depth_limit));
     }},
    {"deeper-than-recorded",
     [](const StackFacts& stacks) { return stacks.too_deep != 0 && !stacks.depth_limit; },
     [](const StackFacts& stacks) { return too_deep(stacks, "what was recorded of them"); }},
    {"left-out", [](const StackFacts& stacks) { return !stacks.left_out.empty(); },
     [](const StackFacts& stacks) { return stacks.left_out; }},
};

}  // namespace

std::span<const Finding<StackFacts>> of_cut_stacks() { return kOfCutStacks; }
std::span<const Finding<StackFacts>> of_broken_stacks() { return kOfBrokenStacks; }

}  // namespace ringside::findings
