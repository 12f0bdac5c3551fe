#include "importers/guest_stream/merged_records.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/little_endian.h"
#include "base/zeros.h"

namespace ringside::importers::guest_stream {
namespace {

std::size_t record_bytes(Bytes at) {
  return wire::guest_record_words(load<std::uint64_t>(at)) * sizeof(std::uint64_t);
}

// Zeros follow the last record where a guest has drained to a disk: all of them but as many as may
// be a record's go without being searched for records.
Bytes without_padding(Bytes bytes) {
  constexpr std::size_t kMostOfRecord = wire::kMostGuestRecordWords * sizeof(std::uint64_t);
  const auto last =
      std::find_if(bytes.rbegin(), bytes.rend(), [](std::byte b) { return b != std::byte{0}; });
  const auto zeros = static_cast<std::size_t>(last - bytes.rbegin());
  return bytes.first(bytes.size() - zeros + std::min(zeros, kMostOfRecord));
}

}  // namespace

MergedRecords::MergedRecords(std::span<const Input> inputs) {
  lanes_.reserve(inputs.size());
  for (const Input& input : inputs) scan(input);
  for (auto& lanes : lanes_)
    for (auto& [cpu, lane] : lanes) {
      most_cpu_ = std::max<std::uint32_t>(most_cpu_, cpu);
      if (advance(lane)) queue_.push(&lane);
    }
  if (!queue_.empty()) first_time_ = queue_.top()->record.time;
}

void MergedRecords::scan(const Input& input) {
  std::map<std::uint16_t, Lane>& lanes = lanes_.emplace_back();
  wire::GuestStream stream;
  std::uint64_t end = 0;     // of the last record
  std::uint32_t kernel = 0;  // all of it ran before the next one
  const auto visit = [&](const wire::GuestRecord& record, std::uint64_t offset) -> Result<void> {
    const std::size_t bytes_of_it = record_bytes(input.bytes.subspan(offset));
    note_read(input, bytes_of_it);
    end = offset + bytes_of_it;
    kernel = std::max(kernel, stream.cpus().at(record.cpu).restarts());
    if (record.kind == wire::GuestRecordKind::kInfo) {
      if (!facts_) facts_ = wire::facts_of(record.info);
      return {};
    }
    Lane& lane = lanes[record.cpu];
    lane.input = &input;
    if (lane.pieces.empty() || lane.pieces.back().end != offset ||
        lane.pieces.back().kernel != kernel)
      lane.pieces.push_back({offset, offset, kernel});
    lane.pieces.back().end += bytes_of_it;
    return {};
  };
  const Bytes bytes = without_padding(input.bytes);
  (void)stream.read(bytes, true, visit);  // the visitor has no errors
  if (lanes_.size() > 1 && kernel != restarts_)
    warnings_.push_back(fmt::format(
        "{}: the kernel began anew {} times in it, and {} times in an input before: its records "
        "may have wrong times",
        input.name, kernel, restarts_));
  restarts_ = std::max(restarts_, kernel);
  for (const auto& [cpu, sequences] : stream.cpus()) {
    lost_ += sequences.lost();
    lost_samples_ += sequences.lost_samples();
    without_room_ += sequences.without_room();
  }
  const std::uint64_t skipped =
      stream.skipped() - (is_zero(bytes.subspan(end)) ? bytes.size() - end : 0);
  if (skipped != 0)
    warnings_.push_back(
        fmt::format("{}: {} bytes belong to no record; the first is at offset {:#x}", input.name,
                    skipped, stream.first_skipped()));
}

bool MergedRecords::advance(Lane& lane) {
  while (lane.piece < lane.pieces.size()) {
    Piece& piece = lane.pieces[lane.piece];
    if (piece.start >= piece.end) {
      ++lane.piece;
      continue;
    }
    const Bytes rest = lane.input->bytes.subspan(piece.start, piece.end - piece.start);
    const std::size_t bytes = rest.size() < sizeof(std::uint64_t) ? 0 : record_bytes(rest);
    if (bytes == 0 || bytes > rest.size()) return false;  // the file has changed
    piece.start += bytes;
    note_read(*lane.input, bytes);
    std::memcpy(lane.words.data(), rest.data(), bytes);
    const auto words = std::span(lane.words).first(bytes / sizeof(std::uint64_t));
    const auto record = wire::read_guest_record(words);
    if (!record) return false;
    lane.record = *record;
    return true;
  }
  return false;
}

void MergedRecords::note_read(const Input& input, std::size_t bytes) {
  unreleased_ += bytes;
  if (unreleased_ < kReleaseBytes) return;
  unreleased_ = 0;
  if (input.release) input.release();
}

const wire::GuestRecord* MergedRecords::next() {
  if (current_ != nullptr && advance(*current_)) queue_.push(current_);
  current_ = nullptr;
  if (queue_.empty()) return nullptr;
  current_ = queue_.top();
  queue_.pop();
  return &current_->record;
}

}  // namespace ringside::importers::guest_stream
