#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace ringside::importers::perf_data {

// A perf_event_attr: an event and how its records look. Fields that a short one lacks are 0.
struct Attribute {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t period = 0;  // or the frequency in Hz
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t flags = 0;
  std::uint64_t branch_type = 0;
  std::uint64_t user_registers = 0;  // bit n: samples have register n
  std::uint64_t interrupt_registers = 0;
  std::uint16_t max_stack = 0;  // entries of call chains; 0: the kernel's default
  std::string name;             // as perf shows it

  [[nodiscard]] bool has(std::uint64_t field) const { return (sample_type & field) != 0; }
  [[nodiscard]] bool has_frequency() const;
  // Its counts are nanoseconds: "cpu-clock", "task-clock".
  [[nodiscard]] bool counts_time() const;
  // Made by perf for records that are no samples.
  [[nodiscard]] bool is_dummy() const;
  // By type and config, for where the file has no name.
  [[nodiscard]] std::string default_name() const;
};

// A perf_event_attr of any size; fields behind `bytes` or behind its own size are 0. Errors: too
// short for the fields of its first version (64 bytes).
[[nodiscard]] Result<Attribute> read_attribute(Bytes bytes);
// The size that a perf_event_attr says it has.
[[nodiscard]] std::size_t size_of_attribute(Bytes bytes);

// All events of a file, and which of them a record is of.
class Attributes {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostIds = 1 << 20;

  // Nothing where there are too many of them.
  void add(Attribute attribute, const std::vector<std::uint64_t>& ids);
  void set_name(std::uint64_t id, std::string name);
  void name_number(std::size_t number, std::string name);

  [[nodiscard]] const std::vector<Attribute>& all() const { return all_; }
  [[nodiscard]] bool empty() const { return all_.empty(); }

  // The number of the event with that id.
  [[nodiscard]] std::optional<std::size_t> with_id(std::uint64_t id) const;
  // That a sample's body is of; nothing where its id is no event's.
  [[nodiscard]] std::optional<std::size_t> of_sample(Bytes body) const;
  // Fields behind the body of a record that is no sample.
  struct Trailer {
    std::optional<std::uint64_t> time;
    std::optional<std::uint64_t> id;
  };
  [[nodiscard]] Trailer trailer_of(Bytes body) const;
  // The time of a sample's body, before the rest of it is read.
  [[nodiscard]] std::optional<std::uint64_t> time_of_sample(Bytes body) const;

 private:
  std::vector<Attribute> all_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
};

}  // namespace ringside::importers::perf_data
