#include "importers/parts/json_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace ringside::importers {
namespace {

using nlohmann::json;

// The fields of each state.
class FieldTable {
 public:
  explicit FieldTable(std::span<const JsonField> fields) : fields_(fields.begin(), fields.end()) {
    std::stable_sort(fields_.begin(), fields_.end(),
                     [](const JsonField& a, const JsonField& b) { return a.in < b.in; });
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const std::size_t in = fields_[i].in;
      if (in >= ranges_.size()) ranges_.resize(in + 1);
      if (ranges_[in].count++ == 0) ranges_[in].first = i;
    }
  }

  // Null: none of that name.
  [[nodiscard]] const JsonField* find(JsonState in, std::string_view name) const {
    for (const JsonField& field : of(in))
      if (field.name == name || field.name == "*") return &field;
    return nullptr;
  }
  // The field of an array's elements; null: it should be none.
  [[nodiscard]] const JsonField* elements(JsonState in) const {
    const auto fields = of(in);
    return !fields.empty() && fields.front().name == "[]" ? &fields.front() : nullptr;
  }
  [[nodiscard]] bool is_object(JsonState in) const {
    return !of(in).empty() && elements(in) == nullptr;
  }

 private:
  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  [[nodiscard]] std::span<const JsonField> of(JsonState in) const {
    if (in >= ranges_.size()) return {};
    return std::span(fields_).subspan(ranges_[in].first, ranges_[in].count);
  }

  std::vector<JsonField> fields_;
  std::vector<Range> ranges_;
};

// Takes the parser's calls, finds the state of each value, and hands it on.
class Dispatcher {
 public:
  Dispatcher(const FieldTable& fields, JsonVisitor& visitor, JsonInput& input)
      : fields_(fields), visitor_(visitor), input_(input) {}

  bool null() { return scalar({}); }
  bool boolean(bool value) {
    return scalar({JsonValue::Type::kBoolean, value ? 1 : 0, value ? 1.0 : 0.0, {}});
  }
  bool number_integer(std::int64_t value) {
    return number({JsonValue::Type::kInteger, value, static_cast<double>(value), {}});
  }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return number({JsonValue::Type::kReal,
                     static_cast<std::int64_t>(value),
                     static_cast<double>(value),
                     {}});
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) {
    return number({JsonValue::Type::kReal, 0, value, {}});
  }
  bool string(const std::string& value) { return scalar({JsonValue::Type::kString, 0, 0, value}); }
  bool binary(const json::binary_t&) { return false; }  // JSON has none

  bool start_object(std::size_t) { return open(fields_.is_object(next_)); }
  bool start_array(std::size_t) { return open(fields_.elements(next_) != nullptr); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(const std::string& name) {
    input_.mark_value();
    const Level& level = levels_.back();
    if (level.state == kJsonSkipped) return true;
    const JsonField* const field = fields_.find(level.state, name);
    next_ = field == nullptr ? kJsonSkipped : field->value;
    return field == nullptr || field->name != "*" || visitor_.name(next_, name);
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) {
    damage_ =
        JsonDamage{input_.place(input_.offset()), reason_of(error.what()), input_.has_ended()};
    if (!input_.failure().empty()) damage_->reason = input_.failure();
    return false;
  }

  [[nodiscard]] std::optional<JsonDamage> take_damage() { return std::move(damage_); }

 private:
  // An object or array that is open, and the state of the values in it, where it is an array.
  struct Level {
    JsonState state = kJsonSkipped;
    JsonState elements = kJsonSkipped;
  };

  // One that the file ends with may be cut.
  bool number(const JsonValue& value) {
    if (!input_.has_ended() || levels_.empty()) return scalar(value);
    damage_ = JsonDamage{input_.place(input_.offset()), "the file ends inside of a number", true};
    if (!input_.failure().empty()) damage_->reason = input_.failure();
    return false;
  }

  bool scalar(const JsonValue& value) {
    input_.mark_value();
    return next_ == kJsonSkipped || visitor_.value(next_, value);
  }

  bool open(bool has_fields) {
    input_.mark_value();
    if (levels_.size() == JsonReader::kDeepest) {
      damage_ = JsonDamage{
          input_.place(input_.offset()),
          fmt::format("more than {} objects and arrays in each other", JsonReader::kDeepest),
          false};
      return false;
    }
    Level level;
    if (has_fields) level.state = next_;
    const bool is_leaf = !has_fields && next_ != kJsonSkipped;
    const JsonField* const elements = has_fields ? fields_.elements(next_) : nullptr;
    if (elements != nullptr) level.elements = elements->value;
    levels_.push_back(level);
    const JsonState state = next_;
    next_ = level.elements;
    if (is_leaf) return visitor_.value(state, {JsonValue::Type::kContainer, 0, 0, {}});
    return !has_fields || visitor_.begin(state);
  }

  bool close() {
    input_.mark_value();
    const JsonState state = levels_.back().state;
    levels_.pop_back();
    next_ = levels_.empty() ? kJsonSkipped : levels_.back().elements;
    return state == kJsonSkipped || visitor_.end(state);
  }

  // The parser's "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error
  // while parsing value - invalid literal; last read: 'x'" without the ends, which hold text of the
  // file.
  static std::string reason_of(std::string_view text) {
    if (const std::size_t place = text.find(", column "); place != std::string_view::npos)
      text.remove_prefix(std::min(text.find(": ", place), text.size()));
    if (text.starts_with(": ")) text.remove_prefix(2);
    return std::string(text.substr(0, text.find("; last read: ")));
  }

  const FieldTable& fields_;
  JsonVisitor& visitor_;
  JsonInput& input_;
  std::vector<Level> levels_;
  JsonState next_ = kJsonDocument;  // of the value that comes next
  std::optional<JsonDamage> damage_;
};

}  // namespace

std::optional<std::uint32_t> JsonValue::index() const {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;
  if (type == Type::kInteger)
    return integer >= 0 && integer <= kMost ? std::optional(static_cast<std::uint32_t>(integer))
                                            : std::nullopt;
  if (type != Type::kReal || !(real >= 0 && real <= static_cast<double>(kMost)) ||
      std::floor(real) != real)
    return std::nullopt;
  return static_cast<std::uint32_t>(real);
}

std::optional<JsonDamage> JsonReader::read(std::span<const JsonField> fields,
                                           JsonVisitor& visitor) {
  const FieldTable table(fields);
  Dispatcher dispatcher(table, visitor, input_);
  const bool is_whole =
      json::sax_parse(JsonInput::Iterator{&input_}, JsonInput::Iterator{}, &dispatcher);
  auto damage = dispatcher.take_damage();
  if (is_whole && !input_.failure().empty())
    damage = JsonDamage{input_.place(input_.offset()), input_.failure(), true};
  return damage;
}

tl::unexpected<Error> failed_by(const JsonDamage& damage, const std::string& input) {
  return fail(damage.is_cut ? ErrorCode::kTruncated : ErrorCode::kFormat, "{}: {}: {}", input,
              damage.at, damage.reason);
}

}  // namespace ringside::importers
