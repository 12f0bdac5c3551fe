#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/byte_reader.h"
#include "importers/perf_data/attributes.h"

namespace ringside::importers::perf_data {

// A list of numbers of 8 bytes where it lies in the file.
class Words {
 public:
  Words() = default;
  explicit Words(Bytes bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size() / 8; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const {
    std::uint64_t word;
    std::memcpy(&word, bytes_.data() + 8 * i, sizeof word);
    return word;
  }
  [[nodiscard]] Words from(std::size_t i) const { return Words(bytes_.subspan(8 * i)); }
  [[nodiscard]] Words first(std::size_t count) const { return Words(bytes_.first(8 * count)); }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

// The counter of one event of a group.
struct GroupValue {
  std::uint64_t value = 0;
  std::uint64_t id = 0;
};

// A PERF_RECORD_SAMPLE, as far as anybody asks for it. Fields that its event does not have stay as
// here.
struct SampleRecord {
  std::optional<std::uint64_t> ip;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::optional<std::uint64_t> time;
  std::optional<std::uint32_t> cpu;
  std::uint64_t period = 1;
  std::vector<GroupValue> group;  // of an event that reads its group
  bool is_of_group = false;
  bool has_callchain = false;
  Words callchain;
  Words branches;  // three of each, the newest first: from, to, flags
  struct RegisterSet {
    std::uint64_t abi = 0;  // 0: none, 1: of 32-bit code, 2: of 64-bit code
    Words values;           // of the attribute's registers, the lowest first
  };
  RegisterSet user_registers;
  Bytes user_stack;                    // from the stack pointer up
  std::uint64_t user_stack_asked = 0;  // bytes: fewer are there where the stack ends
  std::uint64_t cgroup = 0;
};

// Fills `sample`, whose memory is used again. False where the body is too short for what the
// attribute says it has; nothing in `sample` is to be used then.
[[nodiscard]] bool read_sample(Bytes body, const Attribute& attribute, SampleRecord& sample);

}  // namespace ringside::importers::perf_data
