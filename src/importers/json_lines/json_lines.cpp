#include "importers/json_lines/json_lines.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "arch/arch_info.h"
#include "base/split.h"
#include "formats/json_lines.h"
#include "importers/json_lines/events.h"
#include "importers/json_lines/images.h"
#include "importers/json_lines/line.h"
#include "importers/json_lines/owners.h"
#include "importers/json_lines/sources.h"
#include "importers/json_lines/stacks.h"
#include "importers/parts/faults.h"
#include "importers/parts/json_stacks.h"

namespace ringside::importers {
namespace {

using namespace json_lines;

constexpr std::size_t kReleaseEvery = 64 << 20;  // bytes
constexpr std::size_t kLongestLine = 16 << 20;   // bytes
constexpr std::string_view kStacks = ",\"stacks\":";
constexpr std::string_view kNoStacks = "[]";

// Whether that is the first member of the object that a line is.
bool begins_with(std::string_view line, std::string_view name) {
  const auto take = [&line](std::string_view word) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  };
  return take("{") && take(name) && take(":");
}
bool is_of_image(std::string_view line) { return begins_with(line, "\"image\""); }

// A line as ringside writes it ends with its stacks, which many lines have in common.
struct Parts {
  std::string rest;  // without them; empty where the line is another one
  std::string_view stacks = kNoStacks;
};
Parts parts_of(std::string_view line) {
  // In a text the quotes have backslashes in front, and no member of a stack has that name.
  const std::size_t at = line.rfind(kStacks);
  if (at == std::string_view::npos || !line.ends_with("]}")) return {};
  const std::size_t begin = at + kStacks.size();
  return {std::string(line.substr(0, at)) + "}", line.substr(begin, line.size() - begin - 1)};
}

struct Line {
  Item members;
  std::string_view stacks = kNoStacks;  // where they are none of the members
};
// Other programs write blanks, or another order. Errors: as those of parse_line().
Result<Line> parsed(std::string_view text) {
  const Parts parts = parts_of(text);
  if (!parts.rest.empty()) {
    auto members = parse_line(parts.rest);
    if (members && members->find("stacks") == nullptr)
      return Line{std::move(*members), parts.stacks};
  }
  RINGSIDE_ASSIGN(Item members, parse_line(text));
  const auto count = std::count_if(members.items.begin(), members.items.end(),
                                   [](const Item& item) { return item.name == "stacks"; });
  if (count > 1) return fail(ErrorCode::kFormat, "it has stacks twice");
  return Line{std::move(members)};
}

class LinesImport {
 public:
  LinesImport(const Input& input, Target& target) : input_(input), target_(target) {}

  Result<Imported> run() {
    RINGSIDE_TRY(for_each_line([this](std::string_view line) { return take_or_leave(line); }));
    if (records_ == 0)
      return fail(ErrorCode::kFormat, "{}: no JSON Lines of ringside: there is no sample{}",
                  input_.name, faults_.count() == 0 ? "" : "; " + faults_.first());
    RINGSIDE_TRY(recorded_->events.flush());
    RINGSIDE_ASSIGN(const std::vector<std::string> sentences, sources_.finish(*writer_));
    Imported imported{records_, {}};
    if (faults_.count() != 0) imported.warnings.push_back(faults_.sentence(input_.name, "lines"));
    for (const std::string& sentence : sentences)
      imported.warnings.push_back(fmt::format("{}: {}", input_.name, sentence));
    if (counters_ != 0)
      imported.warnings.push_back(
          fmt::format("{}: counters are not read back: {} are left out", input_.name, counters_));
    if (recorded_->stacks.cut_stacks() != 0)
      imported.warnings.push_back(cut_stacks_sentence(input_.name, recorded_->stacks.cut_stacks()));
    for (const std::string& warning : imported.warnings)
      RINGSIDE_TRY(writer_->add_warning(warning));
    return imported;
  }

 private:
  template <class Take>
  Result<void> for_each_line(Take&& take) {
    std::string_view rest = input_.text();
    std::size_t released = rest.size();
    number_ = 0;
    while (!rest.empty()) {
      const std::string_view line = take_line(rest);
      ++number_;
      if (!line.empty()) RINGSIDE_TRY(take(line));
      if (!input_.release || released - rest.size() < kReleaseEvery) continue;
      released = rest.size();
      input_.release();
    }
    return {};
  }

  // Frames may name an image whose line comes behind them.
  Result<void> add_images() {
    const std::uint64_t number = number_;
    RINGSIDE_TRY(for_each_line([this](std::string_view text) -> Result<void> {
      if (!is_of_image(text)) return {};
      const auto line = parse_line(text);
      if (!line) return {};  // a fault when it is its turn
      return add_image(*line);
    }));
    number_ = number;
    return {};
  }

  Result<void> add_image(const Item& line) {
    const auto added = recorded_->images.add(line);
    if (!added && added.error().code != ErrorCode::kFormat)
      return tl::unexpected<Error>(added.error());
    if (!added || !*added)
      faults_.add(fmt::format("line {}", number_),
                  added ? "there are too many images" : added.error().message);
    return {};
  }

  // Parts of the import that fill the recording.
  struct Recorded {
    Recorded(const Sources& sources, recording::Writer& writer)
        : images(writer), stacks(images, writer), owners(writer), events(sources, stacks, writer) {}
    Images images;
    Stacks stacks;
    Owners owners;
    Events events;
  };

  // A line that is broken is left out. Errors: kUnsupported for a file that is refused because of
  // it; the writer's.
  Result<void> take_or_leave(std::string_view line) {
    const auto taken = take(line);
    if (!taken && taken.error().code == ErrorCode::kUnsupported)
      return fail(ErrorCode::kUnsupported, "{}: line {}: {}", input_.name, number_,
                  taken.error().message);
    if (taken || taken.error().code != ErrorCode::kFormat) return taken;
    faults_.add(fmt::format("line {}", number_), taken.error().message);
    return {};
  }

  Result<void> take(std::string_view text) {
    if (text.size() > kLongestLine)
      return fail(ErrorCode::kFormat, "it is longer than {} MiB", kLongestLine >> 20);
    RINGSIDE_ASSIGN(const Line parts, parsed(text));
    const Item& line = parts.members;
    if (line.find("guest_os") != nullptr) return take_head(line);
    if (line.find("source_type") != nullptr && writer_ == nullptr) return sources_.add(line);
    RINGSIDE_TRY(create());
    if (line.find("disposition") != nullptr) return add_sample(parts);
    if (line.find("event") != nullptr) return add_event(parts);
    if (line.find("image") != nullptr)
      return is_of_image(text) ? Result<void>() : add_image(line);  // add_images() has it
    return take_other(line);
  }

  Result<const std::vector<recording::StackRef>*> stacks_of(const Line& line) {
    const Item* const stacks = line.members.find("stacks");
    return stacks == nullptr ? recorded_->stacks.of(line.stacks) : recorded_->stacks.of(*stacks);
  }

  Result<void> take_other(const Item& line) {
    if (line.find("event_type") != nullptr) return recorded_->events.add_type(line);
    if (line.find("snapshot") != nullptr) return recorded_->events.add_snapshot(line);
    if (line.find("epoch") != nullptr) return add_epoch(line);
    if (line.find("statistics") != nullptr) return sources_.add_statistics(line);
    if (line.find("counter") == nullptr)
      return fail(ErrorCode::kFormat, "it is none of those that ringside writes");
    ++counters_;
    return {};
  }

  Result<void> take_head(const Item& line) {
    if (writer_ != nullptr || header_) return fail(ErrorCode::kFormat, "a second head");
    constexpr std::uint64_t kMostVcpus = 1 << 16;
    recording::Header header;
    header.arch = arch::arch_named(line.text_of("arch"));
    header.guest_os = line.text_of("guest_os");
    header.kernel = line.text_of("kernel");
    header.engine = line.text_of("engine");
    header.host = line.text_of("host");
    header.qemu_version = line.text_of("qemu");
    header.kernel_release = line.text_of("kernel_release");
    RINGSIDE_ASSIGN(header.kernel_build_id, bytes_in(line.text_of("kernel_build_id")));
    header.deterministic_seed = line.number("deterministic_seed");
    header.interval_ns = line.number("interval_ns").value_or(0);
    header.start_wall_ns = line.number("start_wall_ns").value_or(0);
    header.start_monotonic_ns = line.number("start_monotonic_ns").value_or(0);
    header.vcpu_count =
        static_cast<std::uint32_t>(std::min(line.number("vcpus").value_or(0), kMostVcpus));
    if (const Item* const words = line.find("command_line"))
      for (const Item& word : words->items) header.command_line.push_back(word.text);
    header_ = std::move(header);
    return {};
  }

  // Behind the head and the sources.
  Result<void> create() {
    if (writer_ != nullptr) return {};
    if (!header_) return fail(ErrorCode::kFormat, "the recording's own line is not in front of it");
    if (sources_.all().empty())
      return fail(ErrorCode::kFormat,
                  "no source is described in front of it, as by an older ringside: export the "
                  "recording again");
    RINGSIDE_ASSIGN(writer_, target_.create(*header_, sources_.all()));
    RINGSIDE_TRY(sources_.begin(*writer_));
    recorded_.emplace(sources_, *writer_);
    return add_images();
  }

  Result<void> add_sample(const Line& parts) {
    const Item& line = parts.members;
    const recording::Source* const source = sources_.find(line, "source");
    const auto disposition =
        enumerator_up_to(static_cast<wire::Disposition>(recording::kDispositionCount - 1),
                         line.text_of("disposition"));
    const auto level =
        enumerator<PrivilegeLevel>(formats::json_lines::kLevels, line.text_of("level"));
    if (source == nullptr) return fail(ErrorCode::kFormat, "its source is not described");
    if (!disposition || !level)
      return fail(ErrorCode::kFormat, "a sample has a disposition and a level");
    RINGSIDE_ASSIGN(const std::vector<std::int64_t> values, values_of(line, *source));
    recording::SampleInfo info;
    info.source = source->id;
    info.disposition = *disposition;
    info.level = *level;
    info.weight = static_cast<std::uint64_t>(values.front());
    info.pause_ns = line.number("pause_ns").value_or(0);
    RINGSIDE_TRY(set_place(line, "time_ns", *source, info));
    RINGSIDE_ASSIGN(const auto* const refs, stacks_of(parts));
    RINGSIDE_TRY(writer_->add_sample(info, *refs, std::span(values).subspan(1)));
    sources_.count(source->id, recording::is_of_ticks(*source) ? info.weight : 1);
    ++records_;
    return {};
  }

  // The values of a sample of that source, in its order.
  static Result<std::vector<std::int64_t>> values_of(const Item& line,
                                                     const recording::Source& source) {
    std::vector<std::int64_t> values;
    if (source.values.size() == 1) {
      const auto weight = line.number("weight");
      if (!weight) return fail(ErrorCode::kFormat, "a sample has a weight");
      values.push_back(static_cast<std::int64_t>(*weight));
      return values;
    }
    const Item* const all = line.find("values");
    if (all != nullptr)
      for (const Item& value : all->items)
        if (is_whole_number(value)) values.push_back(static_cast<std::int64_t>(value.bits));
    if (values.size() != source.values.size())
      return fail(ErrorCode::kFormat, "its values are not those of its source");
    return values;
  }

  Result<void> add_event(const Line& parts) {
    const Item& line = parts.members;
    const recording::Source* const source = recorded_->events.source_of(line);
    if (source == nullptr) return fail(ErrorCode::kFormat, "its type is not described");
    recording::SampleInfo info;
    RINGSIDE_TRY(set_place(line, "time", *source, info));
    RINGSIDE_ASSIGN(const auto* const refs, stacks_of(parts));
    RINGSIDE_TRY(recorded_->events.add(line, info, *refs));
    if (!line.find("snapshot")) sources_.count(source->id, 1);
    ++records_;
    return {};
  }

  // When a sample or event was, of whom, and on which vCPU.
  Result<void> set_place(const Item& line, std::string_view time, const recording::Source& source,
                         recording::SampleInfo& info) {
    const auto number = line.number(time);
    if (!number) return fail(ErrorCode::kFormat, "it has no {}", time);
    info.time_ns = *number;
    const std::uint64_t vcpu = line.number("vcpu").value_or(recording::kNoVcpu.value);
    info.vcpu = vcpu < recording::kNoVcpu.value ? VcpuId{static_cast<std::uint16_t>(vcpu)}
                                                : recording::kNoVcpu;
    return recorded_->owners.set(line, source.clock == recording::kHostClock, info);
  }

  Result<void> add_epoch(const Item& line) {
    recording::GuestEpoch epoch;
    epoch.reason = line.text_of("epoch");
    epoch.time_ns = line.number("time_ns").value_or(0);
    epoch.load_bias = line.address("load_bias").value_or(0);
    RINGSIDE_TRY(recorded_->events.flush());
    recorded_->stacks.forget();
    return writer_->add_epoch(epoch);
  }

  const Input& input_;
  Target& target_;
  std::optional<recording::Header> header_;
  Sources sources_;
  recording::Writer* writer_ = nullptr;
  std::optional<Recorded> recorded_;  // when there is a writer
  Faults faults_;
  std::uint64_t number_ = 0;   // of the line at hand
  std::uint64_t records_ = 0;  // samples and events
  std::uint64_t counters_ = 0;
};

}  // namespace

Likeness json_lines_likeness(const Input& input, const ImportOptions&) {
  std::string_view text = input.text().substr(0, 64 << 10);
  const std::string_view head = take_line(text);
  const bool is_own = begins_with(head, "\"arch\"") &&
                      head.find("\"guest_os\"") != std::string_view::npos &&
                      head.find("\"interval_ns\"") != std::string_view::npos;
  return is_own ? Likeness::kCertain : Likeness::kNone;
}

Result<Imported> import_json_lines(std::span<const Input> inputs, const ImportOptions&,
                                   Target& target) {
  return LinesImport(inputs.front(), target).run();
}

}  // namespace ringside::importers
