#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exporters/trace_dat/item_run.h"
#include "exporters/trace_dat/task.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::trace_dat {

// The kinds of events of the system "ringside": one for the samples of each source, and one for
// each type of events. Each has the fields of format_of().
class EventKinds {
 public:
  explicit EventKinds(profile::DetailedProfile& profile) : profile_(profile) {}

  // Replaces `item` with a sample or an event.
  void take(const profile::TimedSample& sample, Item& item);
  void take(const profile::TimedSample& sample, const profile::TimedEvent& event, Item& item);
  // To be called behind the last of them. Error kUnsupported: there are more kinds than numbers.
  [[nodiscard]] Result<void> finish();

  // All below only after finish().

  [[nodiscard]] std::size_t size() const { return kinds_.size(); }
  // The text of the kernel's events/ringside/NAME/format.
  [[nodiscard]] std::string format_of(std::size_t kind) const;
  // The bytes of an event. A text that does not fit is cut. Valid until the next call.
  [[nodiscard]] std::string_view bytes_of(const Item& item, const Task& task);

 private:
  static constexpr const char* kSampleName = "sample";  // of the vCPUs' ticks
  struct Column {
    std::string name;
    recording::FieldType type = recording::FieldType::kInteger;
    std::string unit = {};  // behind the number
    bool is_unsigned = false;
    bool is_written = true;  // not where it is 0 in all events
    std::size_t offset = 0;  // in the event
  };
  struct Kind {
    std::string name;
    std::vector<Column> columns;
    std::size_t size = 0;   // of an event without its texts
    std::size_t texts = 1;  // how many it has; the thread's name is one
  };

  [[nodiscard]] std::uint32_t next_kind() const {
    return static_cast<std::uint32_t>(kinds_.size());
  }
  std::uint32_t kind_of(std::uint32_t source);
  std::uint32_t kind_of(const profile::TimedEvent& event);
  void add_text(std::string_view text, std::size_t offset, std::size_t most);

  profile::DetailedProfile& profile_;
  std::vector<Kind> kinds_;
  std::set<std::string> names_ = {kSampleName};     // of kinds_
  std::map<std::uint32_t, std::uint32_t> samples_;  // kinds by source
  std::map<std::uint32_t, std::uint32_t> events_;   // kinds by type
  std::string bytes_;                               // reused
};

}  // namespace ringside::exporters::trace_dat
