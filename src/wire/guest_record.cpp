#include "wire/guest_record.h"

#include <algorithm>

namespace ringside::wire {
namespace {

constexpr std::size_t kTaskWords = 4;
constexpr std::size_t kInfoWords = 12;
constexpr std::size_t kTaskNameBytes = 16;
constexpr std::size_t kAllocatorNameBytes = 16;
constexpr std::size_t kEventNameBytes = 24;
constexpr std::size_t kMostNumbers = 6;
constexpr std::uint64_t kMostLeafWords = 4;
constexpr std::uint8_t kMostInterruptions = 4;
constexpr std::uint8_t kMostFrames = 128;

// The words of a record, one after the other. Those behind the end are 0, and it is remembered.
class Words {
 public:
  explicit Words(std::span<const std::uint64_t> words) : words_(words) {}

  std::uint64_t next() {
    const auto one = take(1);
    return one.empty() ? 0 : one.front();
  }
  std::span<const std::uint64_t> take(std::size_t count) {
    if (count > words_.size()) {
      is_short_ = true;
      count = 0;
    }
    const auto taken = words_.first(count);
    words_ = words_.subspan(count);
    return taken;
  }
  std::span<const std::uint64_t> take_interruptions(std::size_t count) {
    const auto from = words_;
    for (std::size_t n = 0; n < count; ++n) {
      const std::uint64_t own = next() >> 32;
      if (own > kMostLeafWords) is_short_ = true;
      take(2 + std::min(own, kMostLeafWords));
    }
    return from.first(from.size() - words_.size());
  }
  std::string_view name(std::size_t bytes) {
    const auto words = take(bytes / sizeof(std::uint64_t));
    const auto* const text = reinterpret_cast<const char*>(words.data());
    return {text,
            static_cast<std::size_t>(std::find(text, text + words.size_bytes(), '\0') - text)};
  }
  // All of them were used, and there were no fewer.
  [[nodiscard]] bool are_used_up() const { return words_.empty() && !is_short_; }

 private:
  std::span<const std::uint64_t> words_;
  bool is_short_ = false;
};

std::uint8_t byte_of(std::uint64_t word, unsigned n) {
  return static_cast<std::uint8_t>(word >> (8 * n));
}

// The word in front of each kind's own.
struct Shape {
  explicit Shape(std::uint64_t word)
      : a(byte_of(word, 0)),
        b(byte_of(word, 1)),
        stops{byte_of(word, 2), byte_of(word, 3)},
        frames{byte_of(word, 4), byte_of(word, 5)},
        interruptions{byte_of(word, 6), byte_of(word, 7)} {}

  [[nodiscard]] bool is_sound() const {
    return std::max(stops[0], stops[1]) < kStopReasonCount &&
           std::max(frames[0], frames[1]) <= kMostFrames &&
           std::max(interruptions[0], interruptions[1]) <= kMostInterruptions;
  }
  // The stack that comes next. An interruption says itself how many words it has.
  [[nodiscard]] GuestFrames take(unsigned n, Words& words) const {
    GuestFrames stack;
    stack.stop = static_cast<StopReason>(stops[n]);
    stack.interruption_count = interruptions[n];
    stack.interruptions = words.take_interruptions(interruptions[n]);
    stack.addresses = words.take(frames[n]);
    return stack;
  }

  std::uint8_t a;
  std::uint8_t b;
  std::array<std::uint8_t, 2> stops;
  std::array<std::uint8_t, 2> frames;
  std::array<std::uint8_t, 2> interruptions;
};

bool read_info(Words& words, GuestInfo& info) {
  const std::uint64_t arch = words.next() & 0xff;
  info.arch = static_cast<Arch>(arch);
  info.cpus = static_cast<std::uint32_t>(words.next() >> 32);
  words.take(1);  // where the area is
  info.clock_hz = words.next();
  info.anchor = {words.next()};
  info.anchor_name = words.name(kEventNameBytes);
  const std::uint64_t counts = words.next();
  info.lost = static_cast<std::uint32_t>(counts);
  info.samples = static_cast<std::uint32_t>(counts >> 32);
  constexpr std::uint32_t kMostCpus = 4096;
  return arch >= 1 && arch <= static_cast<std::uint64_t>(kLastArch) && info.cpus >= 1 &&
         info.cpus <= kMostCpus;
}

GuestTask read_task(Words& words) {
  GuestTask task;
  task.address_space = words.next();
  const std::uint64_t ids = words.next();
  task.pid = static_cast<std::uint32_t>(ids);
  task.tid = static_cast<std::uint32_t>(ids >> 32);
  task.name = words.name(kTaskNameBytes);
  return task;
}

bool read_sample(const Shape& shape, Words& words, GuestSample& sample) {
  if (shape.a > 2 || shape.b != 0) return false;
  sample.source = static_cast<GuestSampleSource>(shape.a);
  sample.kernel = shape.take(0, words);
  sample.user = shape.take(1, words);
  return true;
}

bool read_allocation(const Shape& shape, Words& words, GuestAllocation& allocation) {
  if (shape.a > 2 || shape.b > 2 || shape.frames[1] != 0) return false;
  allocation.operation = static_cast<AllocationOperation>(shape.a);
  allocation.unit = static_cast<AllocationUnit>(shape.b);
  allocation.allocator = words.name(kAllocatorNameBytes);
  allocation.pointer = words.next();
  allocation.old = words.next();
  allocation.size = words.next();
  allocation.stack = shape.take(0, words);
  return true;
}

bool read_event(const Shape& shape, Words& words, GuestEvent& event) {
  if (shape.a > kMostNumbers || shape.frames[1] != 0) return false;
  event.name = words.name(kEventNameBytes);
  event.numbers = words.take(shape.a);
  event.stack = shape.take(0, words);
  return true;
}

bool read_body(Words& words, GuestRecord& record) {
  if (record.kind == GuestRecordKind::kInfo) return read_info(words, record.info);
  const Shape shape(words.next());
  record.task = read_task(words);
  if (!shape.is_sound()) return false;
  switch (record.kind) {
    case GuestRecordKind::kSample:
      return read_sample(shape, words, record.sample);
    case GuestRecordKind::kAllocation:
      return read_allocation(shape, words, record.allocation);
    case GuestRecordKind::kEvent:
      return read_event(shape, words, record.event);
    case GuestRecordKind::kInfo:
      break;
  }
  return false;
}

}  // namespace

std::size_t guest_record_words(std::uint64_t head) {
  const std::size_t words = head >> 16 & 0xffff;
  const std::uint8_t kind = byte_of(head, 4);
  const bool is_one = (head & 0xffff) == kGuestRecordMark && byte_of(head, 5) == 0 &&
                      kind >= static_cast<std::uint8_t>(GuestRecordKind::kInfo) &&
                      kind <= static_cast<std::uint8_t>(GuestRecordKind::kEvent);
  const std::size_t least = kind == static_cast<std::uint8_t>(GuestRecordKind::kInfo)
                                ? kInfoWords
                                : kGuestRecordHeadWords + 1 + kTaskWords;
  return is_one && words >= least && words <= kMostGuestRecordWords ? words : 0;
}

std::optional<GuestRecord> read_guest_record(std::span<const std::uint64_t> words) {
  std::uint32_t check = mix_guest_check(kFirstGuestCheck, words[0]);
  check = mix_guest_check(check, words[1] & 0xffffffff);
  for (const std::uint64_t word : words.subspan(2)) check = mix_guest_check(check, word);
  if (check != words[1] >> 32) return std::nullopt;
  GuestRecord record;
  record.kind = static_cast<GuestRecordKind>(byte_of(words[0], 4));
  record.cpu = static_cast<std::uint16_t>(words[0] >> 48);
  record.sequence = static_cast<std::uint32_t>(words[1]);
  record.time = words[2];
  Words body(words.subspan(kGuestRecordHeadWords));
  if (!read_body(body, record) || !body.are_used_up()) return std::nullopt;
  return record;
}

}  // namespace ringside::wire
