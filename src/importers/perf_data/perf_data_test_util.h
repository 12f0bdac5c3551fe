#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/perf_data.h"

namespace ringside::importers::perf_data {

using namespace formats::perf_data;

// Numbers and texts as records have them.
class Body {
 public:
  Body& u16(std::uint16_t value) { return put(value); }
  Body& u32(std::uint32_t value) { return put(value); }
  Body& u64(std::uint64_t value) { return put(value); }
  Body& words(const std::vector<std::uint64_t>& values) {
    for (const std::uint64_t value : values) put(value);
    return *this;
  }
  Body& bytes(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  // With a NUL, up to a multiple of 8 bytes.
  Body& text(std::string_view text) {
    bytes_ += text;
    bytes_.append(8 - bytes_.size() % 8, '\0');
    return *this;
  }
  // As perf's features have it.
  Body& sized_text(std::string_view text) {
    const std::size_t size = (text.size() / 64 + 1) * 64;
    put(static_cast<std::uint32_t>(size));
    bytes_ += text;
    bytes_.append(size - text.size(), '\0');
    return *this;
  }
  [[nodiscard]] const std::string& get() const { return bytes_; }

 private:
  template <std::integral T>
  Body& put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  std::string bytes_;
};

struct TestEvent {
  std::uint32_t type = kTypeSoftware;
  std::uint64_t config = 0;  // cpu-clock
  std::uint64_t period = 4000;
  std::uint64_t sample_type = sample::kIp | sample::kTid | sample::kTime | sample::kCpu |
                              sample::kPeriod | sample::kCallchain;
  std::uint64_t read_format = 0;
  std::uint64_t flags = kFlagFrequency | kFlagSampleIdAll;
  std::uint64_t branch_type = 0;
  std::uint64_t user_registers = 0;
  std::uint32_t user_stack = 0;
  std::vector<std::uint64_t> ids = {};
  std::string name = {};  // of the feature; empty: it has none

  // A perf_event_attr of PERF_ATTR_SIZE_VER5.
  [[nodiscard]] std::string attribute() const {
    return Body()
        .u32(type)
        .u32(112)
        .words(
            {config, period, sample_type, read_format, flags, 0, 0, 0, branch_type, user_registers})
        .u32(user_stack)
        .u32(0)
        .words({0, 0})
        .get();
  }
};

[[nodiscard]] inline std::string record(std::uint32_t type, std::uint16_t misc, const Body& body) {
  Body header;
  header.u32(type).u16(misc).u16(static_cast<std::uint16_t>(body.get().size() + 8));
  return header.get() + body.get();
}
[[nodiscard]] inline std::string record(RecordType type, std::uint16_t misc, const Body& body) {
  return record(static_cast<std::uint32_t>(type), misc, body);
}

inline constexpr std::uint16_t kKernel = 1;  // CpuMode, as misc has it
inline constexpr std::uint16_t kUser = 2;
inline constexpr std::uint16_t kGuestKernel = 4;
inline constexpr std::uint16_t kGuestUser = 5;

// Both forms of one perf.data.
class TestFile {
 public:
  explicit TestFile(TestEvent event = {}) { events_.push_back(std::move(event)); }
  explicit TestFile(std::vector<TestEvent> events) : events_(std::move(events)) {}

  TestFile& add(std::string bytes) {
    records_ += bytes;
    return *this;
  }
  TestFile& feature(FeatureId id, const Body& body) {
    features_[static_cast<std::uint32_t>(id)] = body.get();
    return *this;
  }

  // Records that are no samples end with the fields of kTrailer: thread, time, processor.
  static std::string trailer(std::uint32_t pid, std::uint64_t time) {
    return Body().u32(pid).u32(pid).u64(time).u32(0).u32(0).get();
  }
  TestFile& comm(std::uint32_t pid, std::uint32_t tid, std::string_view name, std::uint64_t time) {
    return add(record(RecordType::kComm, kUser,
                      Body().u32(pid).u32(tid).text(name).bytes(trailer(pid, time))));
  }
  TestFile& fork(std::uint32_t parent, std::uint32_t pid, std::uint64_t time,
                 std::uint16_t misc = 0) {
    return add(record(
        RecordType::kFork, misc,
        Body().u32(pid).u32(parent).u32(pid).u32(parent).u64(time).bytes(trailer(pid, time))));
  }
  TestFile& map(std::uint16_t mode, std::uint32_t pid, std::uint64_t start, std::uint64_t size,
                std::uint64_t offset, std::string_view path, std::uint64_t time) {
    return add(record(RecordType::kMmap, mode,
                      Body()
                          .u32(pid)
                          .u32(pid)
                          .words({start, size, offset})
                          .text(path)
                          .bytes(trailer(pid, time))));
  }
  // A sample of the default event.
  TestFile& sample(std::uint16_t mode, std::uint64_t ip, std::uint32_t pid, std::uint64_t time,
                   const std::vector<std::uint64_t>& chain = {}) {
    return sample_of(mode, ip, pid, pid, time, chain);
  }
  TestFile& sample_of(std::uint16_t mode, std::uint64_t ip, std::uint32_t pid, std::uint32_t tid,
                      std::uint64_t time, const std::vector<std::uint64_t>& chain = {}) {
    return add(record(RecordType::kSample, mode,
                      Body()
                          .u64(ip)
                          .u32(pid)
                          .u32(tid)
                          .u64(time)
                          .u32(1)
                          .u32(0)
                          .u64(250000)
                          .u64(chain.size())
                          .words(chain)));
  }
  TestFile& round() { return add(record(RecordType::kFinishedRound, 0, Body())); }

  [[nodiscard]] std::string file() const {
    constexpr std::uint64_t kHeader = 104;
    std::string ids;
    std::string entries;
    for (const TestEvent& event : events_) {
      entries +=
          event.attribute() + Body().words({kHeader + ids.size(), 8 * event.ids.size()}).get();
      ids += Body().words(event.ids).get();
    }
    const std::uint64_t data_at = kHeader + ids.size() + entries.size();
    const auto features = all_features();
    std::string table;
    std::string contents;
    std::uint64_t bits = 0;
    for (const auto& [id, bytes] : features) {
      bits |= std::uint64_t{1} << id;
      const std::uint64_t at = data_at + records_.size() + 16 * features.size() + contents.size();
      table += Body().words({at, bytes.size()}).get();
      contents += bytes;
    }
    return "PERFILE2" +
           Body()
               .words({kHeader, entries.size() / events_.size(), kHeader + ids.size(),
                       entries.size(), data_at, records_.size(), 0, 0, bits, 0, 0, 0})
               .get() +
           ids + entries + records_ + table + contents;
  }

  [[nodiscard]] std::string pipe() const {
    std::string out = "PERFILE2" + Body().u64(16).get();
    for (const TestEvent& event : events_)
      out += record(RecordType::kHeaderAttr, 0, Body().bytes(event.attribute()).words(event.ids));
    for (const auto& [id, bytes] : all_features())
      out += record(RecordType::kFeature, 0, Body().u64(id).bytes(bytes));
    return out + records_;
  }

 private:
  // With the names of events that have ids.
  [[nodiscard]] std::map<std::uint32_t, std::string> all_features() const {
    std::map<std::uint32_t, std::string> features = features_;
    Body names;
    names.u32(static_cast<std::uint32_t>(events_.size())).u32(112);
    bool has_names = false;
    for (const TestEvent& event : events_) {
      has_names |= !event.name.empty();
      names.bytes(event.attribute())
          .u32(static_cast<std::uint32_t>(event.ids.size()))
          .sized_text(event.name)
          .words(event.ids);
    }
    if (has_names) features[static_cast<std::uint32_t>(FeatureId::kEvents)] = names.get();
    return features;
  }

  std::vector<TestEvent> events_;
  std::map<std::uint32_t, std::string> features_;
  std::string records_;
};

}  // namespace ringside::importers::perf_data
