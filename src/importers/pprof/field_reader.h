#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringside::importers::pprof {

// A field of a protobuf message. Types of fields that profile.proto has none of are passed over as
// unknown fields are: they have neither a number nor bytes.
struct Field {
  std::uint32_t tag = 0;
  bool is_number = false;  // `number` is set
  bool is_bytes = false;   // `bytes` are
  std::uint64_t number = 0;
  std::string_view bytes;  // a text, a message, or packed numbers
};

// Reads a message field by field. The bytes must outlive the reader and its fields.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}

  // False at the end, and where the rest is no message.
  [[nodiscard]] bool next(Field& field);
  [[nodiscard]] bool is_broken() const { return is_broken_; }
  // The end of the last field that could be read.
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  std::string_view bytes_;
  std::size_t offset_ = 0;
  bool is_broken_ = false;
};

// Appends the numbers of a repeated field, which may be packed. False where they are broken, or
// more than `most` come together.
[[nodiscard]] bool append_numbers(const Field& field, std::size_t most,
                                  std::vector<std::uint64_t>& out);

}  // namespace ringside::importers::pprof
