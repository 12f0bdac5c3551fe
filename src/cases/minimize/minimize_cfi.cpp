#include "cases/minimize/minimize_cfi.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/little_endian.h"

namespace ringside::cases {
namespace {

using namespace unwind::cfi;

// DW_EH_PE_*, LSB core specification 5.0, "DWARF Exception Header Encoding".
constexpr std::uint8_t kPcRelative = 0x10;
constexpr std::uint8_t kApplication = 0x70;

std::size_t encoded_size(std::uint8_t encoding, std::uint8_t address_size) {
  switch (encoding & 0x07u) {
    case 2:
      return 2;
    case 3:
      return 4;
    case 4:
      return 8;
    default:
      return address_size;
  }
}

class Output {
 public:
  explicit Output(const FrameSection& section) : section_(section) {}

  // Copies an FDE and, before the first that needs it, its CIE.
  void add(std::size_t offset, const EntryHead& head, const Cie& cie) {
    const auto [cie_at, is_new] = cies_.try_emplace(head.cie, out_.size());
    if (is_new) copy(head.cie, cie.end);
    const std::size_t at = out_.size();
    copy(offset, head.next);
    const std::size_t id_at = at + (head.is_64 ? 12 : 4);
    const std::uint64_t id =
        section_.kind == SectionKind::kEhFrame ? id_at - cie_at->second : cie_at->second;
    store(id_at, head.is_64 ? 8 : 4, id);
    if ((cie.fde_encoding & kApplication) != kPcRelative) return;
    const std::size_t place = at + (head.body - offset);
    const std::size_t size = encoded_size(cie.fde_encoding, cie.address_size);
    const std::uint64_t value = load_unsigned(out_, place, size);
    store(place, size, value + head.body - place);  // both sections begin at the same address
  }

  [[nodiscard]] std::vector<std::byte> take() {
    if (!out_.empty() && section_.kind == SectionKind::kEhFrame) out_.resize(out_.size() + 4);
    return std::move(out_);
  }

 private:
  void copy(std::size_t from, std::size_t end) {
    const Bytes bytes = section_.bytes.subspan(from, end - from);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  void store(std::size_t at, std::size_t size, std::uint64_t value) {
    std::memcpy(out_.data() + at, &value, size);
  }

  const FrameSection& section_;
  std::map<std::size_t, std::size_t> cies_;  // offset before -> offset now
  std::vector<std::byte> out_;
};

}  // namespace

bool overlaps(std::span<const CodeRange> ranges, ImageAddr start, ImageAddr end) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), start,
                       [](ImageAddr at, const CodeRange& range) { return at < range.end; });
  return after != ranges.end() && after->start < end;
}

std::vector<std::byte> minimize_cfi(const elf::Section& source, SectionKind kind,
                                    std::uint8_t address_size, std::span<const CodeRange> ranges) {
  const FrameSection section{source.bytes, source.address, kind, address_size};
  Output out(section);
  for (std::size_t at = 0; at < section.bytes.size();) {
    const auto head = read_head(section, at);
    if (!head) {
      if (head.error().code != ErrorCode::kNotFound) break;
      at += 4;  // a terminator; of joined files more may follow
      continue;
    }
    const std::size_t offset = at;
    at = head->next;
    if (head->is_cie) continue;
    const auto cie = read_cie(section, head->cie);
    if (!cie) continue;
    const auto fde = read_fde(section, *head, *cie);
    if (fde && overlaps(ranges, fde->start, fde->start + fde->length)) out.add(offset, *head, *cie);
  }
  return out.take();
}

}  // namespace ringside::cases
