#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "recording/codec/decode_field.h"
#include "recording/codec/fields.h"

// Columns of numbers: the n-th value of each belongs to the n-th row.
namespace ringside::recording {

// value_of(row) is the row's value.
template <class ValueOf>
void put_column(protozero::pbf_writer& out, fields::Tag tag, std::size_t rows, ValueOf&& value_of) {
  protozero::packed_field_uint64 column(out, tag);
  for (std::size_t row = 0; row < rows; ++row) column.add_element(value_of(row));
}

// Leaves out a column that is all `usual`, which is what a reader takes it for then.
template <class ValueOf>
void put_unusual_column(protozero::pbf_writer& out, fields::Tag tag, std::size_t rows,
                        ValueOf&& value_of, std::uint64_t usual = 0) {
  std::size_t row = 0;
  while (row < rows && value_of(row) == usual) ++row;
  if (row < rows) put_column(out, tag, rows, value_of);
}

// The times of a batch, as differences.
inline void put_times(protozero::pbf_writer& out, fields::Tag tag,
                      const std::vector<std::uint64_t>& times) {
  protozero::packed_field_sint64 column(out, tag);
  std::uint64_t previous = 0;
  for (const std::uint64_t time : times) {
    column.add_element(static_cast<std::int64_t>(time - previous));
    previous = time;
  }
}

// A message of its own for a column, where there are several; empty where the values are all
// `usual`, or there are none.
template <class Value>
void put_column_message(protozero::pbf_writer& out, fields::Tag message, fields::Tag tag,
                        const std::vector<Value>& values, Value usual) {
  std::size_t row = 0;
  while (row < values.size() && values[row] == usual) ++row;
  if (row == values.size()) return out.add_message(message, std::string());
  protozero::pbf_writer column(out, message);
  if constexpr (std::is_signed_v<Value>)
    column.add_packed_sint64(tag, values.begin(), values.end());
  else
    column.add_packed_uint64(tag, values.begin(), values.end());
}

// The numbers of the packed field that a message stands at. protozero's own iterators decode each
// number, and then look for its end.
class PackedNumbers {
 public:
  explicit PackedNumbers(pbf_reader& message) {
    const protozero::data_view view = message.get_view();
    at_ = view.data();
    end_ = at_ + view.size();
  }
  [[nodiscard]] bool are_left() const { return at_ != end_; }
  [[nodiscard]] std::uint64_t take() { return protozero::decode_varint(&at_, end_); }
  [[nodiscard]] std::int64_t take_signed() { return protozero::decode_zigzag64(take()); }

 private:
  const char* at_;
  const char* end_;
};

// Reads a column into rows that exist: set(row, value).
template <class Row, class Set>
void read_column(pbf_reader& message, std::vector<Row>& rows, Set&& set) {
  if (!is_bytes(message)) return message.skip();
  PackedNumbers numbers(message);
  for (std::size_t index = 0; numbers.are_left() && index < rows.size(); ++index)
    set(rows[index], numbers.take());
}

// More than a block of the writer has. A hostile one would have a reader hold 40 times its bytes.
inline constexpr std::size_t kMostRows = 1 << 18;

struct TooManyRows : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override {
    return "a table with more rows than a recording has";
  }
};

template <class Row>
Row& add_row(std::vector<Row>& rows) {
  if (rows.size() == kMostRows) throw TooManyRows();
  return rows.emplace_back();
}

// Reads the column that says how many rows there are.
template <class Row, class Set>
void read_first_column(pbf_reader& message, std::vector<Row>& rows, Set&& set) {
  if (!is_bytes(message)) return message.skip();
  for (PackedNumbers numbers(message); numbers.are_left();) set(add_row(rows), numbers.take());
}

// The same of signed differences to the value before.
template <class Row, class Set>
void read_first_differences(pbf_reader& message, std::vector<Row>& rows, Set&& set) {
  if (!is_bytes(message)) return message.skip();
  std::uint64_t value = 0;
  for (PackedNumbers numbers(message); numbers.are_left();)
    set(add_row(rows), value += static_cast<std::uint64_t>(numbers.take_signed()));
}

// The values of a column's own message.
template <class Value>
void read_column_message(pbf_reader message, fields::Tag tag, std::vector<Value>& values) {
  while (message.next()) {
    if (message.tag() != tag || !is_bytes(message)) {
      message.skip();
      continue;
    }
    for (PackedNumbers numbers(message); numbers.are_left();)
      if constexpr (std::is_signed_v<Value>)
        add_row(values) = numbers.take_signed();
      else
        add_row(values) = numbers.take();
  }
}

// Cuts a column to `rows`, or fills it up with `usual`. An empty one stays so.
template <class Value>
void fit(std::vector<Value>& values, std::size_t rows, Value usual) {
  if (!values.empty()) values.resize(rows, usual);
}

}  // namespace ringside::recording
