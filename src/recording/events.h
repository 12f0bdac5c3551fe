#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recording/sources.h"

// Events, counters and snapshots: tables whose columns are described once.
namespace ringside::recording {

enum class FieldType : std::uint8_t {
  kInteger,
  kAddress,  // guest virtual
  kText,
  kBytes,   // that need not be text
  kSymbol,  // a frame, whose function is shown
};
inline constexpr FieldType kLastFieldType = FieldType::kSymbol;

struct EventField {
  std::string name;
  FieldType type = FieldType::kInteger;
  WeightUnit unit = WeightUnit::kCount;  // of integers
  bool operator==(const EventField&) const = default;
};

// The events of one type. They have these fields besides a time, a duration, a context and a
// key. Their source has a value for each that may be added up: the first counts them, and the
// others have the names kDurationValue or of a field that is an integer.
struct EventType {
  std::uint32_t id = 0;  // given by the writer
  std::string name;      // "block_rq_issue"
  std::uint32_t source = 0;
  std::vector<EventField> fields;
  bool operator==(const EventType&) const = default;
};
inline constexpr const char* kDurationValue = "duration";

// The values of one field, a row each. Empty ones are all 0 or empty.
struct EventColumn {
  std::vector<std::int64_t> numbers;  // integers, addresses, and the ids of texts and frames
  std::vector<std::string> bytes;     // of FieldType::kBytes
  [[nodiscard]] std::int64_t number(std::size_t row) const {
    return numbers.empty() ? 0 : numbers[row];
  }
  [[nodiscard]] std::string_view bytes_at(std::size_t row) const {
    return bytes.empty() ? std::string_view() : bytes[row];
  }
  bool operator==(const EventColumn&) const = default;
};

// Events of one type, by column.
struct EventBatch {
  std::uint32_t type = 0;
  std::uint32_t snapshot = 0;        // they are what it found, at its time; 0: they are events
  std::vector<std::uint64_t> times;  // by the source's clock: when each began
  std::vector<std::uint32_t> contexts;
  std::vector<std::uint64_t> durations;  // by the same clock; empty: all 0
  std::vector<std::uint64_t> keys;       // pairs two, such as a request and its end; empty: all 0
  std::vector<EventColumn> fields;       // those of the type
  [[nodiscard]] std::size_t size() const { return times.size(); }
  [[nodiscard]] std::uint64_t duration(std::size_t row) const {
    return durations.empty() ? 0 : durations[row];
  }
  bool operator==(const EventBatch&) const = default;
};

// The state of many things at one moment, such as all threads. Those are its events.
struct Snapshot {
  std::uint32_t id = 0;  // given by the writer
  std::uint64_t time = 0;
  std::uint32_t clock = kHostClock;
  std::string reason;  // "end", "panic"
  bool operator==(const Snapshot&) const = default;
};

// The kind of a part of a counter's key.
enum class KeyKind : std::uint8_t {
  kImage,         // an image of the recording
  kPhysicalPage,  // guest physical address of a page of code that is in no image
  kOffset,        // an address as linked in that image, or bytes from the page's start
  kPageEpoch,     // how often the page's contents had changed
  kVcpu,
  kThread,  // of the recording's threads
  kNumber,  // else
};
inline constexpr KeyKind kLastKeyKind = KeyKind::kNumber;

struct KeyPart {
  std::string name;
  KeyKind kind = KeyKind::kNumber;
  bool operator==(const KeyPart&) const = default;
};

// Counters with keys of one form. Their values are the source's.
struct CounterSet {
  std::uint32_t id = 0;  // given by the writer
  std::string name;
  std::uint32_t source = 0;
  std::vector<KeyPart> key;
  bool operator==(const CounterSet&) const = default;
};

enum class MarkKind : std::uint8_t {
  kStart,
  kAfter,  // what record --after waits for has come
  kProbe,
  kEnd,
};
inline constexpr MarkKind kLastMarkKind = MarkKind::kEnd;
[[nodiscard]] std::string_view name_of(MarkKind kind);

// A moment at which counters are read.
struct Mark {
  std::uint32_t id = 0;  // given by the writer
  MarkKind kind = MarkKind::kStart;
  std::uint64_t time_ns = 0;
  std::string name;  // of a probe
  bool operator==(const Mark&) const = default;
};

// How much counters have grown since the mark before: all batches together are the whole.
struct CounterBatch {
  std::uint32_t set = 0;
  std::uint32_t mark = 0;
  // By part of the key, of which there is at least one; an empty one but the first: all 0.
  std::vector<std::vector<std::uint64_t>> keys;
  std::vector<std::vector<std::int64_t>> values;  // by the source's value; an empty one: all 1
  [[nodiscard]] std::size_t size() const { return keys.empty() ? 0 : keys.front().size(); }
  [[nodiscard]] std::uint64_t key(std::size_t part, std::size_t row) const {
    return keys[part].empty() ? 0 : keys[part][row];
  }
  // There may be fewer columns than the source has values.
  [[nodiscard]] std::int64_t value(std::size_t value, std::size_t row) const {
    return value >= values.size() || values[value].empty() ? 1 : values[value][row];
  }
  bool operator==(const CounterBatch&) const = default;
};

// At most `most` rows of a batch, from that one on.
[[nodiscard]] EventBatch rows_of(const EventBatch& batch, std::size_t from, std::size_t most);
[[nodiscard]] CounterBatch rows_of(const CounterBatch& batch, std::size_t from, std::size_t most);

}  // namespace ringside::recording
