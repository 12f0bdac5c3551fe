#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/dense_table.h"
#include "formats/pprof.h"
#include "importers/parts/faults.h"
#include "importers/pprof/field_reader.h"

namespace ringside::importers::pprof {

namespace field = formats::pprof;  // numbers of fields

using TextIndex = std::uint64_t;  // in the string table; 0 is the empty text

struct NumberHash {
  std::uint64_t operator()(std::uint64_t number) const { return mixed(number); }
};

struct MappingMessage {
  std::uint64_t key = 0;  // its id
  std::uint64_t start = 0;
  std::uint64_t limit = 0;  // behind the last byte
  std::uint64_t offset = 0;
  TextIndex file = 0;
  TextIndex build_id = 0;
};

struct FunctionMessage {
  std::uint64_t key = 0;  // its id
  TextIndex name = 0;
  TextIndex system_name = 0;
  TextIndex file = 0;
};

struct LocationMessage {
  std::uint64_t key = 0;  // its id
  std::uint64_t mapping = 0;
  std::uint64_t address = 0;
  std::string_view message = {};  // for read_lines()
};

struct LineMessage {
  std::uint64_t function = 0;
  std::uint32_t line = 0;
};

struct ValueTypeMessage {
  TextIndex name = 0;
  TextIndex unit = 0;
};

// The messages of a profile but its samples, as views into its bytes, which must outlive it. They
// refer to each other by ids and come in any order, so all are read before the first sample.
class Messages {
 public:
  // Leaves out what is broken, and what would take too much memory.
  void read(std::string_view bytes, Faults& faults);

  // Calls `visit(offset, message)` for each sample as long as that returns true.
  template <class Visit>
  void for_each_sample(Visit&& visit) const {
    FieldReader reader(bytes_);
    Field field;
    for (std::size_t at = 0; reader.next(field); at = reader.offset())
      if (field.tag == field::kSample && field.is_bytes && !visit(at, field.bytes)) return;
  }

  [[nodiscard]] std::string_view text(TextIndex index) const {
    return index < texts_.size() ? texts_[index] : std::string_view();
  }
  [[nodiscard]] bool has_texts() const { return !texts_.empty(); }
  // Null where there is none of that id.
  [[nodiscard]] const FunctionMessage* function(std::uint64_t id) const {
    return functions_.find(id);
  }
  // For location(); none where there is none of that id.
  [[nodiscard]] std::optional<std::size_t> location_number(std::uint64_t id) const {
    const LocationMessage* const found = locations_.find(id);
    if (found == nullptr) return std::nullopt;
    return static_cast<std::size_t>(found - &locations_[0]);
  }
  [[nodiscard]] std::size_t location_count() const { return locations_.size(); }
  [[nodiscard]] const LocationMessage& location(std::size_t number) const {
    return locations_[number];
  }
  [[nodiscard]] const std::vector<MappingMessage>& mappings() const { return mappings_; }

  std::vector<ValueTypeMessage> types;
  ValueTypeMessage period_type;
  std::uint64_t period = 0;
  std::uint64_t time_ns = 0;      // since 1970; 0: not known
  std::uint64_t duration_ns = 0;  // 0: not known
  TextIndex default_type = 0;
  std::vector<TextIndex> comments;
  std::uint64_t samples = 0;

 private:
  [[nodiscard]] bool read_message(const Field& field);
  void read_number(const Field& field);
  [[nodiscard]] bool add_text(std::string_view text);
  [[nodiscard]] bool add_mapping(std::string_view message);
  [[nodiscard]] bool add_function(std::string_view message);
  [[nodiscard]] bool add_location(std::string_view message);

  std::string_view bytes_;
  std::vector<std::string_view> texts_;
  std::vector<MappingMessage> mappings_;
  DenseTable<std::uint64_t, FunctionMessage, NumberHash> functions_;
  DenseTable<std::uint64_t, LocationMessage, NumberHash> locations_;
};

[[nodiscard]] bool read_value_type(std::string_view message, ValueTypeMessage& out);

// The lines of a location, innermost first. False where it is broken, or has a thousand of them.
[[nodiscard]] bool read_lines(std::string_view location, std::vector<LineMessage>& out);

}  // namespace ringside::importers::pprof
