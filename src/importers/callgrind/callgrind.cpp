#include "importers/callgrind/callgrind.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/callgrind/profile_reader.h"
#include "importers/callgrind/stack_writer.h"
#include "importers/parts/event_numbers.h"

namespace ringside::importers {
namespace {

using namespace callgrind;

constexpr std::size_t kLongestCommand = 64 << 10;  // bytes

class Import {
 public:
  Import(std::span<const Input> inputs, Target& target) : inputs_(inputs), target_(target) {}

  Result<Imported> run() {
    for (const Input& input : inputs_) events_.add(input.text());
    CallGraph graph(events_.count());
    const Description description = read(graph);
    const Costs totals = graph.totals();
    if (std::all_of(totals.begin(), totals.end(), [](std::int64_t total) { return total == 0; }))
      return nothing();
    RINGSIDE_ASSIGN(recording::Writer* const writer, create(description));
    StackWriter stacks(graph, texts_, *writer);
    RINGSIDE_TRY(stacks.name_processes(first_word(description.command)));
    const CostFlow flow(graph);
    RINGSIDE_TRY(
        estimate_stacks(flow, [&](const EstimatedStack& stack) { return stacks.add(stack); }));
    recording::Statistics statistics;
    statistics.due = is_of_ticks_ ? static_cast<std::uint64_t>(totals.front()) : stacks.count();
    RINGSIDE_TRY(writer->add_statistics(statistics));
    warn_of(description, graph, stacks);
    for (const std::string& warning : imported_.warnings)
      RINGSIDE_TRY(writer->add_warning(warning));
    imported_.records = stacks.count();
    return std::move(imported_);
  }

 private:
  static std::string_view first_word(std::string_view text) { return take_word(text); }

  Description read(CallGraph& graph) {
    ProfileReader reader(events_, texts_, graph);
    for (const Input& input : inputs_) {
      Faults faults;
      reader.read(input, faults);
      if (faults.count() != 0) faults_.push_back(faults.sentence(input.name, "lines"));
    }
    return reader.finish();
  }

  Result<recording::Writer*> create(const Description& description) {
    const bool is_own = description.creator.starts_with("ringside");
    recording::Header header;
    header.engine = "callgrind";
    std::string_view rest = description.command.substr(0, kLongestCommand);
    for (std::string_view word = take_word(rest); !is_own && !word.empty(); word = take_word(rest))
      header.command_line.emplace_back(word);
    recording::Source source;
    source.name = "callgrind";
    source.clock = kEventNumbers;
    source.kind = recording::SourceKind::kOther;
    source.values = events_.values(is_own);
    is_of_ticks_ = recording::is_of_ticks(source);
    if (is_own && source.values.front().name == "ticks") {
      source.name = recording::kCpuSourceName;
      source.kind = recording::SourceKind::kCpu;
    }
    RINGSIDE_ASSIGN(recording::Writer* const writer, target_.create(header, {std::move(source)}));
    RINGSIDE_TRY(add_event_numbers(*writer));
    return writer;
  }

  [[nodiscard]] tl::unexpected<Error> nothing() const {
    std::string why =
        "no function has a cost: with --instr-atstart=no, valgrind counts nothing until "
        "'callgrind_control -i on'";
    if (!faults_.empty()) why = faults_.front();
    if (events_.count() == 0) why = "there is no line \"events:\"";
    return fail(ErrorCode::kFormat, "{}: no profile of callgrind: {}", inputs_.front().name, why);
  }

  void warn_of(const Description& description, const CallGraph& graph, const StackWriter& stacks) {
    std::vector<std::string>& warnings = imported_.warnings;
    const std::string& name = inputs_.front().name;
    if (graph.call_count() != 0)
      warnings.push_back(fmt::format(
          "{}: stacks are estimated: the format has what functions and calls cost, and of longer "
          "chains of callers nothing",
          name));
    if (stacks.cut() != 0)
      warnings.push_back(
          fmt::format("{}: the outer callers of {} of the stacks are left out, because they have "
                      "too many or too long chains of them",
                      name, stacks.cut()));
    if (events_.are_too_many())
      warnings.push_back(fmt::format("{}: more than {} events: the others are left out", name,
                                     recording::kMostColumns));
    if (!description.totals.empty() &&
        !std::equal(description.totals.begin(), description.totals.end(), graph.totals().begin()))
      warnings.push_back(fmt::format("{}: its totals are {}, and its lines add up to {}", name,
                                     fmt::join(description.totals, " "),
                                     fmt::join(graph.totals(), " ")));
    warnings.insert(warnings.end(), faults_.begin(), faults_.end());
  }

  std::span<const Input> inputs_;
  Target& target_;
  Events events_;
  Texts texts_;
  std::vector<std::string> faults_;  // in words
  bool is_of_ticks_ = false;
  Imported imported_;
};

}  // namespace

Result<Imported> import_callgrind(std::span<const Input> inputs, const ImportOptions&,
                                  Target& target) {
  return Import(inputs, target).run();
}

}  // namespace ringside::importers
