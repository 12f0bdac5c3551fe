#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recording/context_table.h"
#include "recording/events.h"
#include "recording/records.h"
#include "recording/stack_interner.h"

// Each appends one record to the payload of a block.
namespace ringside::recording {

void encode(const Header& header, std::string& out);
void encode(const ImageInfo& image, std::string& out);
void encode(const Mapping& mapping, std::string& out);
void encode(const ImageFunction& function, std::string& out);
void encode(const StackInterner::Pending& pending, std::string& out);
// The pending part of it.
void encode(const ContextTable& table, std::string& out);
void encode(const SampleBatch& batch, std::string& out);
void encode(const EventType& type, std::string& out);
void encode(const EventBatch& batch, std::string& out);
void encode(const Snapshot& snapshot, std::string& out);
void encode(const CounterSet& set, std::string& out);
void encode(const Mark& mark, std::string& out);
void encode(const CounterBatch& batch, std::string& out);
void encode(const Clock& clock, std::string& out);
void encode(const ClockTie& tie, std::string& out);
void encode(const Source& source, std::string& out);
void encode(const GuestEpoch& epoch, std::string& out);
void encode(const ThreadName& name, std::string& out);
// Its host_time_ns counts from Header::start_monotonic_ns here.
void encode(const wire::Capture& capture, std::string& out);
void encode(const Statistics& statistics, std::string& out);
void encode_warning(std::string_view text, std::string& out);

struct TextBatch {
  std::uint32_t first_id = 1;
  std::vector<std::string> texts;
};
void encode(const TextBatch& batch, std::string& out);

struct BlobPiece {
  std::string kind;
  std::uint32_t image = 0;
  std::uint64_t offset = 0;
  std::uint64_t total_size = 0;
  std::string_view content;
};
void encode(const BlobPiece& piece, std::string& out);

}  // namespace ringside::recording
