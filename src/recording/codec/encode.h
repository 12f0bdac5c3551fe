#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "recording/records.h"
#include "recording/stack_interner.h"

// Each appends one record to the payload of a block.
namespace ringside::recording {

void encode(const Header& header, std::string& out);
void encode(const ImageInfo& image, std::string& out);
void encode(const Mapping& mapping, std::string& out);
void encode(const StackInterner::Pending& pending, std::string& out);
void encode(const Sample& sample, std::string& out);
void encode(const GuestEpoch& epoch, std::string& out);
void encode(const ThreadName& name, std::string& out);
void encode(const Event& event, std::string& out);
// Its host_time_ns counts from Header::start_monotonic_ns here.
void encode(const wire::Capture& capture, std::string& out);
void encode(const Statistics& statistics, std::string& out);
void encode_warning(std::string_view text, std::string& out);

struct BlobPiece {
  std::string kind;
  std::uint32_t image = 0;
  std::uint64_t offset = 0;
  std::uint64_t total_size = 0;
  std::string_view content;
};
void encode(const BlobPiece& piece, std::string& out);

}  // namespace ringside::recording
