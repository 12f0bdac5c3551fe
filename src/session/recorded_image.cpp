#include "session/recorded_image.h"

#include <algorithm>

#include "elf/code_hash.h"
#include "elf/code_size.h"
#include "session/synthesized_symbols.h"
#include "symbols/symbol_file.h"

namespace ringside::session {
namespace {

// Sets the fields that distinguish the file that ran from one that was built again.
void identify(const elf::ElfFile& file, recording::ImageInfo& info) {
  const Bytes build_id = file.build_id();
  info.build_id.assign(build_id.begin(), build_id.end());
  // Guest memory has what the kernel has made of its code.
  if (build_id.empty() && file.is_on_disk()) info.code_hash = elf::code_hash(file);
}

}  // namespace

Result<void> write_mappings(const elf::Image& image, std::uint32_t id, recording::Writer& writer) {
  for (const elf::Segment& segment : image.file->segments()) {
    if (!segment.executable) continue;
    recording::Mapping mapping;
    mapping.image = id;
    mapping.start = image.to_guest(segment.address);
    mapping.end = mapping.start + segment.memory_size;
    mapping.file_offset = segment.offset;
    RINGSIDE_TRY(writer.add_mapping(mapping));
  }
  return {};
}

Result<std::uint32_t> write_image(const elf::Image& image, RecordedNames names,
                                  recording::Writer& writer) {
  recording::ImageInfo info;
  info.name = image.name;
  if (!image.from_guest) info.path = image.file->name();
  identify(*image.file, info);
  info.arch = image.file->arch();
  info.load_bias = image.load_bias;
  info.size = elf::code_size(*image.file);
  RINGSIDE_ASSIGN(const std::uint32_t id, writer.add_image(info));
  RINGSIDE_TRY(write_mappings(image, id, writer));
  if (names == RecordedNames::kUsed && !image.file->symbols().empty()) return id;
  if (image.from_guest) {
    RINGSIDE_TRY(writer.add_blob({recording::kImageFileBlob, id, image.file->file_bytes()}));
  } else {
    // Whoever writes a kernel builds it again before reading the recording.
    const char* const kind =
        image.file->is_on_disk() ? recording::kKeptSymbolsBlob : recording::kSymbolsBlob;
    const std::vector<std::byte> packed = symbols::pack_symbols(*image.file);
    RINGSIDE_TRY(writer.add_blob({kind, id, packed}));
  }
  return id;
}

Result<std::uint32_t> write_user_image(const guestos::UserImage& image, recording::Writer& writer) {
  recording::ImageInfo info;
  info.name = image.name;
  if (!image.file) return writer.add_image(info);
  const bool on_disk = !image.from_guest && image.file->is_on_disk();
  if (on_disk) info.path = image.file->name();
  identify(*image.file, info);
  info.arch = image.file->arch();
  info.size = elf::code_size(*image.file);
  RINGSIDE_ASSIGN(const std::uint32_t id, writer.add_image(info));
  if (!on_disk || info.build_id.empty())
    RINGSIDE_TRY(writer.add_blob({on_disk ? recording::kKeptSymbolsBlob : recording::kSymbolsBlob,
                                  id, symbols::pack_symbols(*image.file)}));
  const auto nameless = synthesized_symbols(image.file, image.name);
  if (!nameless.empty())
    RINGSIDE_TRY(writer.add_blob(
        {recording::kSynthesizedSymbolsBlob, id, symbols::pack_functions(*image.file, nameless)}));
  return id;
}

}  // namespace ringside::session
