#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "importers/parts/json_input.h"

// Reads a JSON file value by value, so that no more of it is held than a visitor keeps. Where a
// value stands in the file is a state, a small number that the format's table of fields gives.
namespace ringside::importers {

using JsonState = std::uint16_t;
inline constexpr JsonState kJsonSkipped = 0;   // nothing in there is wanted
inline constexpr JsonState kJsonDocument = 1;  // the outermost value

// A member of objects in the state `in`, and the state of its value. The name "[]" is of the
// elements of an array, "*" of all members that have no field of their own.
struct JsonField {
  JsonState in = kJsonSkipped;
  std::string_view name;
  JsonState value = kJsonSkipped;
};

// A value that is not read any deeper.
struct JsonValue {
  enum class Type : std::uint8_t {
    kNull,
    kBoolean,
    kInteger,
    kReal,  // also a whole number that is larger than `integer` holds
    kString,
    kContainer  // an object or array where the fields have none
  };
  Type type = Type::kNull;
  std::int64_t integer = 0;  // 1 for true; the bits of a whole number from 2^63 on
  double real = 0;           // that of an integer, too
  std::string_view string;   // until the call returns; mostly UTF-8 that is well-formed

  [[nodiscard]] bool is_number() const { return type == Type::kInteger || type == Type::kReal; }
  [[nodiscard]] bool is_string() const { return type == Type::kString; }
  [[nodiscard]] bool is_null() const { return type == Type::kNull; }
  // A whole number from 0 up to 2^32 - 2, also where it is written with a fraction of 0.
  [[nodiscard]] std::optional<std::uint32_t> index() const;
};

// Takes what has a state. Calls return false to end the reading.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  // An object or array that has fields, and its end.
  virtual bool begin(JsonState) { return true; }
  virtual bool end(JsonState) { return true; }
  // The name of a member that has the field "*", in front of its value.
  virtual bool name(JsonState, std::string_view) { return true; }
  virtual bool value(JsonState, const JsonValue&) { return true; }
};

// Where a file ended before its text was complete, or what was no JSON.
struct JsonDamage {
  std::string at;  // "offset 0x1c"
  std::string reason;
  bool is_cut = false;  // the file ends inside of it
};

class JsonReader {
 public:
  // Levels of objects and arrays; a file with more is refused.
  static constexpr std::size_t kDeepest = 256;

  explicit JsonReader(const Input& input) : input_(input) {}

  // To be called once. Null where the whole text was read, or the visitor ended the reading.
  [[nodiscard]] std::optional<JsonDamage> read(std::span<const JsonField> fields,
                                               JsonVisitor& visitor);
  // The place of the value that the visitor has just been given.
  [[nodiscard]] std::string place() const { return input_.place(input_.offset()); }

 private:
  JsonInput input_;
};

// That nothing could be read because of it: kTruncated or kFormat.
[[nodiscard]] tl::unexpected<Error> failed_by(const JsonDamage& damage, const std::string& input);

}  // namespace ringside::importers
