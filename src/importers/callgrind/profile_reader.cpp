#include "importers/callgrind/profile_reader.h"

#include <algorithm>
#include <limits>

namespace ringside::importers::callgrind {
namespace {

constexpr std::size_t kReleaseEvery = 64 << 20;  // bytes

// A cost; those of ringside's own export may be negative. False where the word is no number.
bool parse_cost(std::string_view word, std::int64_t& cost) {
  if (word == ".") return true;  // 0
  const bool is_negative = word.starts_with('-');
  std::uint64_t number = 0;
  if (!parse_number(word.substr(is_negative ? 1 : 0), number)) return false;
  cost = static_cast<std::int64_t>(std::min<std::uint64_t>(number, kMostCost));
  if (is_negative) cost = -cost;
  return true;
}

template <class Number>
Number small_number(std::string_view text) {
  std::uint64_t number = 0;
  if (!parse_number(take_word(text), number) || number > std::numeric_limits<Number>::max())
    return 0;
  return static_cast<Number>(number);
}

// Settings that say nothing that a recording has a place for.
bool is_passed_over(const Setting& setting) {
  static constexpr std::array<std::string_view, 5> kHeads = {"version", "part", "desc", "event",
                                                             "summary"};
  static constexpr std::array<std::string_view, 5> kPlaces = {"jump", "jcnd", "rec", "frfn", "ln"};
  const auto is_in = [&](const auto& list) {
    return std::find(list.begin(), list.end(), setting.name) != list.end();
  };
  return setting.mark == ':' ? is_in(kHeads) : is_in(kPlaces);
}

}  // namespace

ProfileReader::ProfileReader(const Events& events, Texts& texts, CallGraph& graph)
    : events_(events), texts_(texts), graph_(graph), costs_(events.count()) {
  description_.totals.resize(events.count());
}

void ProfileReader::read(const Input& input, Faults& faults) {
  names_.emplace(texts_);
  columns_.clear();
  positions_ = {};
  position_count_ = 1;
  has_line_ = true;
  thread_ = {};
  object_ = file_ = 0;
  function_.reset();
  callee_.reset();
  called_object_.reset();
  called_file_.reset();
  is_call_ = false;
  LineScan lines(input.text());
  std::string_view line;
  std::size_t released = 0;
  while (lines.next(line)) {
    if (!take(line))
      faults.add(fmt::format("line {}", lines.number()),
                 graph_.is_full() ? "there is too much for memory, or sums are too large"
                                  : "it is none of callgrind's format");
    if (lines.offset() - released < kReleaseEvery || !input.release) continue;
    released = lines.offset();
    input.release();
  }
}

Description ProfileReader::finish() {
  if (parts_with_totals_ != parts_) description_.totals.clear();
  return std::move(description_);
}

bool ProfileReader::take(std::string_view line) {
  if (line.empty() || line.front() == '#') return true;
  const char first = line.front();
  if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*')
    return take_costs(line);
  const Setting setting = setting_of(line);
  if (setting.mark == ':') return take_head(setting);
  if (setting.mark == '=') return take_place(setting);
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

bool ProfileReader::take_head(const Setting& setting) {
  const std::string_view name = setting.name;
  const std::string_view value = setting.value;
  if (name == "events") {
    set_events(value);
  } else if (name == "positions") {
    const bool has_address = value.find("instr") != std::string_view::npos ||
                             value.find("addr") != std::string_view::npos;
    has_line_ = value.find("line") != std::string_view::npos;
    position_count_ = has_address && has_line_ ? 2 : 1;
  } else if (name == "cmd") {
    if (description_.command.empty()) description_.command = value;
  } else if (name == "creator") {
    if (description_.creator.empty()) description_.creator = value;
  } else if (name == "pid") {
    thread_.pid = small_number<std::uint32_t>(value);
  } else if (name == "thread") {
    thread_.number = small_number<std::uint32_t>(value);
  } else if (name == "totals") {
    ++parts_with_totals_;
    if (!parse_costs(value)) return false;
    for (std::size_t i = 0; i < costs_.size(); ++i)
      description_.totals[i] = std::min(description_.totals[i], kMostCost - costs_[i]) + costs_[i];
  } else {
    return is_passed_over(setting);
  }
  return true;
}

// Begins a part. Its names go on in the next one; its positions do not.
void ProfileReader::set_events(std::string_view names) {
  ++parts_;
  columns_.clear();
  positions_ = {};
  for (std::string_view name = take_word(names); !name.empty() && columns_.size() < 4096;
       name = take_word(names))
    columns_.push_back(events_.find(name));
}

bool ProfileReader::take_place(const Setting& setting) {
  const std::string_view name = setting.name;
  const std::string_view value = setting.value;
  if (name == "ob") {
    object_ = names_->objects.id(value);
  } else if (name == "fl" || name == "fi" || name == "fe") {
    file_ = names_->files.id(value);
  } else if (name == "fn") {
    start_function(value);
  } else if (name == "cob") {
    called_object_ = names_->objects.id(value);
  } else if (name == "cfl" || name == "cfi") {
    called_file_ = names_->files.id(value);
  } else if (name == "cfn") {
    start_callee(value);
  } else if (name == "calls") {
    is_call_ = callee_.has_value();
    return is_call_;
  } else if (name == "jfi") {
    (void)names_->files.id(value);  // it may give it a number
  } else if (name == "jfn") {
    (void)names_->functions.id(value);
  } else {
    return is_passed_over(setting);
  }
  return true;
}

void ProfileReader::start_function(std::string_view name) {
  function_.emplace();
  function_->thread = graph_.thread(thread_);
  function_->object = object_;
  function_->file = file_;
  function_->name = names_->functions.id(name);
  callee_.reset();
  is_call_ = false;
}

// A callee is in the caller's object and in the file at hand unless it was said where it is.
void ProfileReader::start_callee(std::string_view name) {
  callee_.reset();
  const std::uint32_t id = names_->functions.id(name);
  const std::uint32_t object = called_object_.value_or(function_ ? function_->object : object_);
  const std::uint32_t file = called_file_.value_or(file_);
  called_object_.reset();
  called_file_.reset();
  if (function_) callee_ = Function{function_->thread, object, file, id};
}

bool ProfileReader::take_costs(std::string_view line) {
  const bool is_call = std::exchange(is_call_, false);
  if (!take_positions(line) || !parse_costs(line)) return false;
  const bool is_nothing =
      std::all_of(costs_.begin(), costs_.end(), [](std::int64_t cost) { return cost == 0; });
  if (is_nothing) return true;
  if (!function_) return false;
  const std::uint64_t number = has_line_ ? positions_[position_count_ - 1] : 0;
  Spot spot;
  spot.function = graph_.function(*function_);
  spot.file = file_;
  spot.line =
      number <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(number) : 0;
  if (!is_call) return graph_.add_own(spot, costs_);
  return graph_.add_call({spot, graph_.function(*callee_)}, costs_);
}

// "+3", "-3" and "*" are relative to the line of costs before.
bool ProfileReader::take_positions(std::string_view& rest) {
  for (std::size_t i = 0; i < position_count_; ++i) {
    const std::string_view word = take_word(rest);
    if (word == "*") continue;
    const bool is_relative = word.starts_with('+') || word.starts_with('-');
    std::uint64_t number = 0;
    if (!parse_number(word.substr(is_relative ? 1 : 0), number)) return false;
    if (is_relative) number = positions_[i] + (word.front() == '+' ? number : 0 - number);
    positions_[i] = number;
  }
  return true;
}

// Costs that are not there are 0.
bool ProfileReader::parse_costs(std::string_view rest) {
  std::fill(costs_.begin(), costs_.end(), 0);
  for (std::size_t i = 0;; ++i) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return true;
    std::int64_t cost = 0;
    if (i >= columns_.size() || !parse_cost(word, cost)) return false;
    if (columns_[i] < costs_.size()) costs_[columns_[i]] = cost;
  }
}

}  // namespace ringside::importers::callgrind
