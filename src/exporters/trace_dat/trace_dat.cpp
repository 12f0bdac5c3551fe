#include "exporters/trace_dat/trace_dat.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "exporters/trace_dat/event_kinds.h"
#include "exporters/trace_dat/file_head.h"
#include "exporters/trace_dat/item_run.h"
#include "exporters/trace_dat/kernel_names.h"
#include "exporters/trace_dat/ring_buffer.h"
#include "exporters/trace_dat/stack_events.h"
#include "views/owner.h"

namespace ringside::exporters {
namespace trace_dat {
namespace {

using profile::DetailedProfile;

// Takes the first of two writings for a pipe, which gives the sizes that stand in front.
class NullSink final : public Sink {
 public:
  [[nodiscard]] Result<void> write(std::string_view) override { return {}; }
};

// The processors of a trace: the guest's, and one more where something was sampled on none.
class Processors {
 public:
  explicit Processors(const DetailedProfile& profile) {
    constexpr std::uint32_t kMost = recording::kNoVcpu.value;
    vcpus_ = std::min(profile.profile().header.vcpu_count, kMost);
    bool has_others = false;
    for (const profile::Owner& owner : profile.profile().owners) {
      if (owner.vcpu == recording::kNoVcpu)
        has_others = true;
      else
        vcpus_ = std::max(vcpus_, std::uint32_t{owner.vcpu.value} + 1);
    }
    count_ = vcpus_ + (has_others ? 1 : 0);
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t of(VcpuId vcpu) const {
    return vcpu == recording::kNoVcpu ? vcpus_ : vcpu.value;
  }

 private:
  std::uint32_t vcpus_ = 0;
  std::uint32_t count_ = 0;
};

// All that is written, by processor and source: such items come in order of time.
class Items final : public profile::SampleReceiver {
 public:
  Items(DetailedProfile& profile, const Processors& processors, bool shows_idle)
      : profile_(profile), processors_(processors), shows_idle_(shows_idle), kinds_(profile) {}

  void sample(const profile::TimedSample& sample) override {
    if (!views::is_shown(profile_.owner_of(sample.group), shows_idle_)) return;
    kinds_.take(sample, item_);
    keep(sample.source);
  }
  void event(const profile::TimedSample& sample, const profile::TimedEvent& event) override {
    kinds_.take(sample, event, item_);
    keep(sample.source);
  }

  [[nodiscard]] EventKinds& kinds() { return kinds_; }
  // Those of one processor, by source.
  [[nodiscard]] std::vector<const ItemRun*> runs_of(std::uint32_t processor) const {
    std::vector<const ItemRun*> runs;
    for (auto run = runs_.lower_bound({processor, 0});
         run != runs_.end() && run->first.first == processor; ++run)
      runs.push_back(&run->second);
    return runs;
  }

 private:
  // KernelShark puts a processor whose first event is at 0 behind all others.
  void keep(std::uint32_t source) {
    item_.time = std::max<std::uint64_t>(item_.time, 1);
    runs_[{processors_.of(profile_.owner_of(item_.group).vcpu), source}].add(item_);
  }

  DetailedProfile& profile_;
  const Processors& processors_;
  bool shows_idle_;
  EventKinds kinds_;
  Item item_;  // reused
  std::map<std::pair<std::uint32_t, std::uint32_t>, ItemRun> runs_;
};

// Joins runs by time.
class Merger {
 public:
  explicit Merger(const std::vector<const ItemRun*>& runs) {
    for (const ItemRun* const run : runs) {
      Front front{ItemRun::Cursor(*run), {}};
      if (front.cursor.next(front.item)) fronts_.push_back(std::move(front));
    }
  }
  // Null: there is no more. Valid until the next call.
  const Item* next() {
    if (last_ != kNone && !fronts_[last_].cursor.next(fronts_[last_].item))
      fronts_.erase(fronts_.begin() + static_cast<std::ptrdiff_t>(last_));
    if (fronts_.empty()) return nullptr;
    last_ = static_cast<std::size_t>(
        std::min_element(fronts_.begin(), fronts_.end(),
                         [](const Front& a, const Front& b) { return a.item.time < b.item.time; }) -
        fronts_.begin());
    return &fronts_[last_].item;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Front {
    ItemRun::Cursor cursor;
    Item item;
  };
  std::vector<Front> fronts_;
  std::size_t last_ = kNone;
};

// Writes the buffers of all processors.
class BufferWriter {
 public:
  BufferWriter(DetailedProfile& profile, const Processors& processors, Items& items,
               const KernelNames& names)
      : processors_(processors), items_(items), tasks_(profile), stacks_(profile, names) {}

  // The bytes of each.
  Result<std::vector<std::uint64_t>> write(Sink& sink) {
    std::vector<std::uint64_t> sizes;
    for (std::uint32_t processor = 0; processor < processors_.count(); ++processor) {
      RingBuffer buffer(sink);
      Merger merger(items_.runs_of(processor));
      while (const Item* const item = merger.next()) RINGSIDE_TRY(write_item(*item, buffer));
      RINGSIDE_TRY(buffer.finish());
      sizes.push_back(buffer.size());
    }
    return sizes;
  }

 private:
  Result<void> write_item(const Item& item, RingBuffer& buffer) {
    const Task task = tasks_.of(item.group);
    RINGSIDE_TRY(buffer.add(item.time, items_.kinds().bytes_of(item, task)));
    return stacks_.add(item.time, item.group, task, buffer);
  }

  const Processors& processors_;
  Items& items_;
  Tasks tasks_;
  StackEvents stacks_;
};

}  // namespace
}  // namespace trace_dat

Result<void> write_trace_dat(profile::DetailedProfile& profile, const ExportOptions& options,
                             Sink& sink) {
  using namespace trace_dat;
  const Processors processors(profile);
  Items items(profile, processors, options.show_idle);
  RINGSIDE_TRY(profile.for_each(items));
  RINGSIDE_TRY(items.kinds().finish());
  const KernelNames names(profile);
  HeadTexts texts{StackEvents::formats(), {}, names.kallsyms(), saved_command_lines(profile)};
  for (std::size_t kind = 0; kind < items.kinds().size(); ++kind)
    texts.formats.push_back(items.kinds().format_of(kind));
  RINGSIDE_ASSIGN(FileHead head, make_head(texts, profile.profile().header, processors.count()));

  BufferWriter buffers(profile, processors, items, names);
  const auto set_table = [&head](const std::vector<std::uint64_t>& sizes) {
    const std::string table = processor_table(sizes, head.bytes.size());
    head.bytes.replace(head.table_at, table.size(), table);
    return table;
  };
  if (!sink.can_rewrite()) {
    NullSink nowhere;
    RINGSIDE_ASSIGN(const auto sizes, buffers.write(nowhere));
    set_table(sizes);
  }
  RINGSIDE_TRY(sink.write(head.bytes));
  RINGSIDE_ASSIGN(const auto sizes, buffers.write(sink));
  if (!sink.can_rewrite()) return {};
  return sink.rewrite(head.table_at, set_table(sizes));
}

}  // namespace ringside::exporters
