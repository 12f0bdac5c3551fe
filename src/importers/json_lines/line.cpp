#include "importers/json_lines/line.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/whole_number.h"

namespace ringside::importers::json_lines {
namespace {

enum State : JsonState {
  kLine = kJsonDocument,
  kMember,  // without objects and arrays in it
  kStacks,
  kStack,
  kFrames,
  kFrame,
  kFunctions,
  kLines,
  kName,
  kFields,
  kField,  // a frame where it is a symbol
  kValues,
  kCounters,
  kClock,
  kValueTypes,
  kFieldTypes,
  kType,
  kWords
};

constexpr std::array<JsonField, 29> kTable = {{{kLine, "stacks", kStacks},
                                               {kLine, "fields", kFields},
                                               {kLine, "values", kValues},
                                               {kLine, "counters", kCounters},
                                               {kLine, "clock", kClock},
                                               {kLine, "value_types", kValueTypes},
                                               {kLine, "field_types", kFieldTypes},
                                               {kLine, "command_line", kWords},
                                               {kLine, "*", kMember},
                                               {kStacks, "[]", kStack},
                                               {kStack, "frames", kFrames},
                                               {kStack, "*", kMember},
                                               {kFrames, "[]", kFrame},
                                               {kFrame, "functions", kFunctions},
                                               {kFrame, "lines", kLines},
                                               {kFrame, "*", kMember},
                                               {kFunctions, "[]", kName},
                                               {kLines, "[]", kName},
                                               {kFields, "*", kField},
                                               {kField, "functions", kFunctions},
                                               {kField, "lines", kLines},
                                               {kField, "*", kMember},
                                               {kValues, "*", kMember},
                                               {kCounters, "*", kMember},
                                               {kWords, "[]", kName},
                                               {kClock, "*", kMember},
                                               {kValueTypes, "[]", kType},
                                               {kFieldTypes, "[]", kType},
                                               {kType, "*", kMember}}};

class TreeBuilder final : public JsonVisitor {
 public:
  bool begin(JsonState state) override {
    if (state == kLine) {
      root_.type = JsonValue::Type::kContainer;
      open_.push_back(&root_);
      return true;
    }
    Item* const item = add(state);
    if (item == nullptr) return false;
    item->type = JsonValue::Type::kContainer;
    open_.push_back(item);
    return true;
  }
  bool end(JsonState) override {
    open_.pop_back();
    return true;
  }
  bool name(JsonState, std::string_view name) override {
    name_ = name;
    return true;
  }
  bool value(JsonState state, const JsonValue& value) override {
    if (state == kLine) return true;
    Item* const item = add(state);
    if (item == nullptr) return false;
    item->type = value.type;
    item->bits = static_cast<std::uint64_t>(value.integer);
    item->text = value.string;
    return true;
  }

  [[nodiscard]] bool is_too_much() const { return items_ > kMostItems; }
  [[nodiscard]] Item take() && { return std::move(root_); }

 private:
  // 16 stacks of 512 frames have fewer.
  static constexpr std::size_t kMostItems = 1 << 17;

  Item* add(JsonState state) {
    if (++items_ > kMostItems) return nullptr;
    Item& item = open_.back()->items.emplace_back();
    item.name = name_of(state);
    return &item;
  }

  // Only members without a state of their own were named.
  std::string name_of(JsonState state) {
    if (state == kMember || state == kField) return std::exchange(name_, {});
    for (const JsonField& field : kTable)
      if (field.value == state && field.name != "[]" && field.name != "*")
        return std::string(field.name);
    return {};
  }

  Item root_;
  std::vector<Item*> open_;  // nothing is added beside one of these
  std::string name_;
  std::size_t items_ = 0;
};

}  // namespace

const Item* Item::find(std::string_view member) const {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const Item& item) { return item.name == member; });
  return found == items.end() ? nullptr : &*found;
}

std::string_view Item::text_of(std::string_view member) const {
  const Item* const item = find(member);
  return item == nullptr ? std::string_view() : item->text;
}

bool is_whole_number(const Item& item) {
  // Whole numbers from 2^63 on are kReal, and have their bits.
  return item.type == JsonValue::Type::kInteger ||
         (item.type == JsonValue::Type::kReal && item.bits != 0);
}

std::optional<std::uint64_t> Item::number(std::string_view member) const {
  const Item* const item = find(member);
  return item != nullptr && is_whole_number(*item) ? std::optional(item->bits) : std::nullopt;
}

std::optional<std::uint64_t> address_in(std::string_view text) {
  return text.starts_with("0x") ? whole_number<std::uint64_t>(text.substr(2), 16) : std::nullopt;
}

Result<std::vector<std::byte>> bytes_in(std::string_view digits) {
  std::vector<std::byte> bytes;
  for (std::string_view rest = digits; !rest.empty(); rest.remove_prefix(2)) {
    const auto byte =
        rest.size() < 2 ? std::nullopt : whole_number<std::uint8_t>(rest.substr(0, 2), 16);
    if (!byte) return fail(ErrorCode::kFormat, "bytes have two hexadecimal digits each");
    bytes.push_back(std::byte{*byte});
  }
  return bytes;
}

std::optional<std::uint64_t> Item::address(std::string_view member) const {
  return address_in(text_of(member));
}

Result<Item> parse_line(std::string_view line) {
  const Input input{"line", as_bytes(line), {}};
  TreeBuilder tree;
  const auto damage = JsonReader(input).read(kTable, tree);
  if (damage) return fail(ErrorCode::kFormat, "{}", damage->reason);
  if (tree.is_too_much())
    return fail(ErrorCode::kFormat, "there is more in it than in any line that ringside writes");
  Item item = std::move(tree).take();
  if (item.type != JsonValue::Type::kContainer)
    return fail(ErrorCode::kFormat, "it is no object of JSON");
  return item;
}

}  // namespace ringside::importers::json_lines
