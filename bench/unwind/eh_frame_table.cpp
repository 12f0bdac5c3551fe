#include "eh_frame_table.h"

#include <algorithm>
#include <cstring>

#include "unwind/cfi/section.h"

namespace ringside::bench {
namespace {

using unwind::cfi::FrameSection;

constexpr std::uint64_t kDistance = 64 << 20;  // from the image's end

struct Function {
  std::uint64_t start;
  std::size_t fde;  // offset in the section
};

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

// Makes .eh_frame's entries of .debug_frame's in place: a CIE's id is 0, an FDE's is the distance
// back to its CIE (LSB core, "The Common Information Entry Format"), and addresses are moved.
std::optional<std::vector<Function>> convert(const FrameSection& section, std::uint64_t bias,
                                             std::vector<std::byte>& bytes) {
  std::vector<Function> functions;
  for (std::size_t at = 0; at < section.bytes.size();) {
    const auto head = unwind::cfi::read_head(section, at);
    if (!head || head->is_64) return std::nullopt;
    const std::size_t id = head->body - 4;
    if (head->is_cie) {
      put(bytes, id, std::uint32_t{0});
    } else {
      const auto cie = unwind::cfi::read_cie(section, head->cie);
      if (!cie) return std::nullopt;
      const auto fde = unwind::cfi::read_fde(section, *head, *cie);
      if (!fde) return std::nullopt;
      put(bytes, id, static_cast<std::uint32_t>(id - head->cie));
      put(bytes, head->body, fde->start.value + bias);
      if (fde->length != 0) functions.push_back({fde->start.value + bias, at});
    }
    at = head->next;
  }
  return functions;
}

}  // namespace

std::optional<EhFrameTable> EhFrameTable::make(const elf::Image& image) {
  const auto source = image.file->section(".debug_frame");
  if (!source || source->bytes.empty()) return std::nullopt;
  const FrameSection section{.bytes = source->bytes,
                             .address = source->address,
                             .kind = unwind::cfi::SectionKind::kDebugFrame,
                             .address_size = 8};
  std::vector<std::byte> entries(section.bytes.begin(), section.bytes.end());
  auto functions = convert(section, image.load_bias, entries);
  if (!functions || functions->empty()) return std::nullopt;
  std::sort(functions->begin(), functions->end(),
            [](const Function& a, const Function& b) { return a.start < b.start; });

  EhFrameTable table;
  table.start_ = functions->front().start;
  for (const elf::Segment& segment : image.file->segments())
    table.end_ = std::max(table.end_, image.to_guest(segment.address).value + segment.memory_size);
  table.address_ = (table.end_ + kDistance) & ~std::uint64_t{4095};
  table.rows_ = functions->size();
  const std::size_t table_bytes = table.rows_ * sizeof(Row);
  table.bytes_.resize(table_bytes);
  for (std::size_t i = 0; i < table.rows_; ++i) {
    const Function& function = (*functions)[i];
    put(table.bytes_, i * sizeof(Row),
        Row{static_cast<std::int32_t>(function.start - table.address_),
            static_cast<std::int32_t>(table_bytes + function.fde)});
  }
  table.bytes_.insert(table.bytes_.end(), entries.begin(), entries.end());
  return table;
}

std::optional<std::uint64_t> EhFrameTable::read(std::uint64_t address) const {
  const std::uint64_t offset = address - address_;
  if (offset >= bytes_.size() || bytes_.size() - offset < 8) return std::nullopt;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes_.data() + offset, 8);
  return word;
}

}  // namespace ringside::bench
