#include "wire/guest_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/little_endian.h"

namespace ringside::wire {

GuestFacts facts_of(const GuestInfo& info) {
  return {info.arch, std::max<std::uint32_t>(info.cpus, 1), info.clock_hz, info.anchor,
          std::string(info.anchor_name)};
}

std::int64_t GuestSequences::extended(std::uint32_t sequence) const {
  return end_ + static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(end_));
}

void GuestSequences::begin_anew() {
  before_ = {read(), lost(), lost_samples(), without_room()};
  ++restarts_;
  last_time_ = 0;
  has_one_ = false;
  begun_before_.reset();
  read_ = read_samples_ = 0;
  first_info_.reset();
}

// Records that interrupt each other are out of order by a few, and clocks of CPUs differ a little.
bool GuestSequences::is_of_another_kernel(const GuestRecord& record) const {
  constexpr std::int64_t kFarBack = 1024;
  if (record.kind != GuestRecordKind::kInfo)
    return has_one_ && extended(record.sequence) < end_ - kFarBack;
  const bool counts_fewer =
      has_one_ ? extended(record.sequence) < begun_
               : static_cast<std::int32_t>(record.sequence - begun_before_.value_or(0)) < 0;
  return counts_fewer || record.time < last_time_ - last_time_ / 16;
}

void GuestSequences::note(const GuestRecord& record) {
  if ((has_one_ || begun_before_) && is_of_another_kernel(record)) begin_anew();
  last_time_ = std::max(last_time_, record.time);
  if (record.kind == GuestRecordKind::kInfo) return note_info(record);
  if (!has_one_) {
    has_one_ = true;
    first_ = end_ = begun_ = std::int64_t{1} << 32 | record.sequence;
  }
  const std::int64_t whole = extended(record.sequence);
  first_ = std::min(first_, whole);
  end_ = std::max(end_, whole + 1);
  begun_ = std::max(begun_, end_);
  if (const auto begun = std::exchange(begun_before_, std::nullopt))
    begun_ = std::max(begun_, extended(*begun));
  ++read_;
  if (record.kind == GuestRecordKind::kSample) ++read_samples_;
}

// Nothing is counted before the first record that is read.
void GuestSequences::note_info(const GuestRecord& record) {
  last_info_ = {record.info.samples, read_samples_, record.info.lost};
  if (!first_info_) first_info_ = last_info_;
  if (has_one_)
    begun_ = std::max(begun_, extended(record.sequence));
  else
    begun_before_ = record.sequence;
}

std::uint64_t GuestSequences::lost(bool at_end) const {
  if (!has_one_) return before_.lost;
  const auto begun = static_cast<std::uint64_t>((at_end ? begun_ : end_) - first_);
  return before_.lost + (begun - std::min(begun, read_));
}

std::uint64_t GuestSequences::lost_samples(bool at_end) const {
  const std::uint64_t all = lost(at_end) - before_.lost;
  if (read_samples_ == read_) return before_.lost_samples + all;
  std::uint64_t samples = all * read_samples_ / std::max<std::uint64_t>(read_, 1);
  if (first_info_ && last_info_.begun != first_info_->begun) {
    const std::uint64_t begun = last_info_.begun - first_info_->begun;
    const std::uint64_t came = last_info_.read - first_info_->read;
    samples = begun - std::min(begun, came);
  }
  return before_.lost_samples + std::min(samples, all);
}

std::uint64_t GuestSequences::without_room() const {
  const std::uint32_t now = first_info_ ? last_info_.without_room - first_info_->without_room : 0;
  return before_.without_room + now;
}

Result<std::size_t> GuestStream::read(Bytes bytes, bool is_last, const Visit& visit) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const Found found = find(bytes.subspan(at));
    if (found.size > bytes.size() - at && !is_last) break;
    if (found.record) {
      note(*found.record);
      RINGSIDE_TRY(visit(*found.record, offset_ + at));
      at += found.size;
      continue;
    }
    if (skipped_++ == 0) first_skipped_ = offset_ + at;
    ++at;
  }
  offset_ += at;
  return at;
}

GuestStream::Found GuestStream::find(Bytes bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (bytes.size() < kWord) return {.record = std::nullopt, .size = kWord};
  const std::size_t words = guest_record_words(load<std::uint64_t>(bytes));
  const std::size_t size = words * kWord;
  if (words == 0 || size > bytes.size()) return {.record = std::nullopt, .size = size};
  std::memcpy(words_.data(), bytes.data(), size);
  return {.record = read_guest_record(std::span(words_).first(words)), .size = size};
}

void GuestStream::note(const GuestRecord& record) { cpus_[record.cpu].note(record); }

}  // namespace ringside::wire
