#include "importers/pprof/images.h"

#include <tuple>
#include <utility>

#include "elf/image_map.h"

namespace ringside::importers::pprof {
namespace {

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool is_module(std::string_view file) {
  const std::string_view name = base_name(file);
  return name.ends_with(".ko") || name.find(".ko.") != std::string_view::npos;
}

// Two digits a byte. Build ids of other forms, as Go's linker makes them, are none of an ELF note.
std::vector<std::byte> bytes_of(std::string_view hex) {
  constexpr std::size_t kLongest = 128;  // digits
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::vector<std::byte> bytes;
  if (hex.size() % 2 != 0 || hex.size() > kLongest) return bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::size_t high = kDigits.find(hex[i]);
    const std::size_t low = kDigits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return {};
    bytes.push_back(static_cast<std::byte>(high << 4 | low));
  }
  return bytes;
}

// From linked to mapped addresses. Programs that are linked for a place of their own stand below 4
// GiB, at 0x400000 mostly; the others' first segment has its place in the file for an address.
std::uint64_t load_bias_of(const MappingMessage& mapping, bool is_kernel) {
  constexpr std::uint64_t kBeyondFixed = 1ULL << 32;
  return is_kernel || mapping.start < kBeyondFixed ? 0 : mapping.start - mapping.offset;
}

recording::ImageInfo image_of(const Messages& messages, const MappingMessage& mapping) {
  const std::string_view file = messages.text(mapping.file);
  const bool is_kernel = is_kernel_file(file);
  recording::ImageInfo image;
  image.name = is_kernel && !is_module(file) ? elf::kKernelImage : base_name(file);
  if (image.name.empty()) image.name = "[mapping]";
  if (file.starts_with('/')) image.path = file;
  image.build_id = bytes_of(messages.text(mapping.build_id));
  image.load_bias = load_bias_of(mapping, is_kernel);
  if (mapping.limit > mapping.start) image.size = mapping.limit - mapping.start;
  return image;
}

}  // namespace

bool is_kernel_file(std::string_view file) {
  return file.starts_with("[kernel") || file.starts_with("[guest.kernel") ||
         file == elf::kKernelImage || base_name(file).starts_with("vmlinu") || is_module(file);
}

Result<void> Images::add(const Messages& messages, const ImportOptions& options,
                         recording::Writer& writer) {
  // Mappings of one file at one bias are of one image.
  std::map<std::tuple<std::string, std::vector<std::byte>, std::uint64_t>, std::uint32_t> known;
  for (const MappingMessage& mapping : messages.mappings()) {
    const recording::ImageInfo image = image_of(messages, mapping);
    Place place;
    place.is_kernel = is_kernel_file(messages.text(mapping.file));
    have_kernel_ |= place.is_kernel;
    const auto [entry, added] = known.try_emplace(
        {image.path.empty() ? image.name : image.path, image.build_id, image.load_bias});
    if (added) {
      RINGSIDE_ASSIGN(entry->second, writer.add_image(image));
    }
    place.image = entry->second;
    const bool is_given = place.is_kernel && !options.kernel_code.empty();
    if (mapping.start < mapping.limit && !is_given) {
      recording::Mapping mapped;
      mapped.image = place.image;
      mapped.start = GuestVirt{mapping.start};
      mapped.end = GuestVirt{mapping.limit};
      mapped.file_offset = FileOffset{mapping.offset};
      RINGSIDE_ASSIGN(place.mapping, writer.add_mapping(mapped));
    }
    places_.insert_or_assign(mapping.key, place);
  }
  return {};
}

}  // namespace ringside::importers::pprof
