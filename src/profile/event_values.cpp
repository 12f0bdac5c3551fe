#include "profile/event_values.h"

namespace ringside::profile {

EventValue::EventValue(const recording::EventType& type, std::size_t index,
                       const std::string& name) {
  if (index == 0) {
    kind_ = Kind::kCount;
    return;
  }
  for (std::size_t i = 0; i < type.fields.size() && kind_ == Kind::kNone; ++i) {
    if (type.fields[i].name != name || type.fields[i].type != recording::FieldType::kInteger)
      continue;
    kind_ = Kind::kField;
    field_ = i;
  }
  if (kind_ == Kind::kNone && name == recording::kDurationValue) kind_ = Kind::kDuration;
}

std::uint64_t EventValue::of(const recording::EventBatch& batch, std::size_t row) const {
  switch (kind_) {
    case Kind::kCount:
      return 1;
    case Kind::kDuration:
      return batch.duration(row);
    case Kind::kField:
      return static_cast<std::uint64_t>(batch.fields[field_].number(row));
    case Kind::kNone:
      break;
  }
  return 0;
}

}  // namespace ringside::profile
