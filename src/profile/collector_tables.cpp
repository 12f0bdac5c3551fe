#include <algorithm>

#include "profile/collector.h"
#include "profile/event_values.h"

// Events and counters as samples.
namespace ringside::profile {
CounterKey key_of(const recording::CounterSet& set, const recording::CounterBatch& batch,
                  std::size_t row) {
  using recording::KeyKind;
  CounterKey key;
  for (std::size_t part = 0; part < set.key.size(); ++part) {
    const std::uint64_t value = batch.key(part, row);
    switch (set.key[part].kind) {
      case KeyKind::kImage:
        key.image = static_cast<std::uint32_t>(value);
        break;
      case KeyKind::kPhysicalPage:
      case KeyKind::kOffset:
        key.address += value;
        break;
      case KeyKind::kVcpu:
        key.vcpu = {static_cast<std::uint16_t>(value)};
        break;
      case KeyKind::kThread:
        key.thread = static_cast<std::uint32_t>(value);
        break;
      case KeyKind::kPageEpoch:
      case KeyKind::kNumber:
        break;
    }
  }
  return key;
}

void Collector::events(const recording::EventBatch& batch) {
  const recording::EventType& type = event_types_[batch.type];
  const SourceChoice::Value* const value = choice_.take(type.source, batch.size());
  if (value == nullptr) return;
  const EventValue weight(type, value->index, value->name);
  begin_rows(batch.times, *value);
  for (std::size_t row = 0; row < batch.size(); ++row)
    add_row(batch.contexts[row], batch.times[row], weight.of(batch, row) * value->scale, 1);
}

void Collector::counters(const recording::CounterBatch& batch) {
  const recording::CounterSet& set = counter_sets_[batch.set];
  const SourceChoice::Value* const value = choice_.take(set.source, batch.size());
  if (value == nullptr) return;
  const std::uint64_t time_ns = mark_times_[batch.mark];
  last_mark_ns_ = std::max(last_mark_ns_, time_ns);
  const bool has_values = value->index < batch.values.size() && !batch.values[value->index].empty();
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const std::uint64_t count =
        has_values ? static_cast<std::uint64_t>(batch.values[value->index][row]) : 1;
    CounterSum& sum = counter_sums[counter_sums.find_or_add(key_of(set, batch, row))];
    const bool is_wanted = options_.filter.has_time(time_ns);
    (is_wanted ? sum.weight : sum.left_out) += count * value->scale;
    for (std::size_t i = 0; options_.every_source && is_wanted && i < batch.values.size(); ++i)
      sum.has_others |= batch.value(i, row) != 0;
  }
}

void Collector::add_counters() {
  // Code that each address space has is the kernel's.
  std::set<std::uint32_t> kernel_images;
  for (const auto& [id, mapping] : mappings)
    if (mapping.address_space == 0) kernel_images.insert(mapping.image);
  for (std::size_t number = 0; number < counter_sums.size(); ++number) {
    CounterSum& sum = counter_sums[number];
    if (sum.weight == 0 && sum.left_out == 0 && !sum.has_others) continue;
    const bool is_kernel = sum.key.image == 0 || kernel_images.count(sum.key.image) != 0;
    recording::RecordedFrame frame;
    const auto image = images.find(sum.key.image);
    frame.address = {sum.key.address + (image != images.end() ? image->second.load_bias : 0)};
    frame.exact = true;
    frame.kind = is_kernel ? FrameKind::kKernel : FrameKind::kUser;
    frame.image = sum.key.image;
    frames.push_back(frame);
    nodes.push_back({0, static_cast<std::uint32_t>(frames.size() - 1)});
    lists_.push_back({{static_cast<std::uint32_t>(nodes.size() - 1),
                       StopReason::kEndOfStack,
                       {},
                       recording::StackRole::kOwn},
                      0});
    recording::Context context;
    context.thread = sum.key.thread;
    context.vcpu = sum.key.vcpu;
    context.level = is_kernel ? PrivilegeLevel::kKernel : PrivilegeLevel::kUser;
    context.stacks = static_cast<std::uint32_t>(lists_.size() - 1);
    const auto id = static_cast<std::uint32_t>(contexts_.size());
    this->context(id, context);
    enter(id, last_mark_ns_);
    sum.group = context_groups_[id];
    if (sum.left_out != 0) leave_out(id, 1, sum.left_out);
    if (sum.weight == 0 && !sum.has_others) continue;
    sums_[id].weight = sum.weight;
    sums_[id].samples = 1;
  }
}

}  // namespace ringside::profile
