#include "guestos/emerald/metadata.h"

#include <array>
#include <limits>

namespace ringside::guestos::emerald {
namespace {

constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;  // of the lower half
constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 30;

bool is_inside(const Metadata& image, GuestVirt start, std::uint64_t size) {
  const std::uint64_t offset = start - image.image_base;
  return offset < image.image_size && size <= image.image_size - offset;
}

bool is_plausible(const Metadata& fields) {
  if (fields.pid > std::numeric_limits<std::uint32_t>::max()) return false;
  if (fields.image_size == 0 || fields.image_size > kLargestImage) return false;
  if (fields.image_base.value >= kUserEnd - fields.image_size) return false;
  if (fields.program_headers_offset >= fields.image_size) return false;
  if (fields.text_size == 0 || !is_inside(fields, fields.text, fields.text_size)) return false;
  const bool no_eh_frame = fields.eh_frame.value == 0 && fields.eh_frame_size == 0;
  return no_eh_frame || is_inside(fields, fields.eh_frame, fields.eh_frame_size);
}

}  // namespace

std::optional<Metadata> parse_metadata(Bytes page) {
  ByteReader reader(page);
  std::array<std::uint64_t, kMetadataSize / 8> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = reader.read<std::uint64_t>();
    if (!word && i * 8 < kEmeraldSize) return std::nullopt;
    words[i] = word.value_or(0);
  }
  const Metadata fields{
      words[0], GuestVirt{words[1]}, words[2], words[3],           GuestVirt{words[4]},
      words[5], GuestVirt{words[6]}, words[7], GuestVirt{words[8]}};
  if (!is_plausible(fields)) return std::nullopt;
  return fields;
}

}  // namespace ringside::guestos::emerald
