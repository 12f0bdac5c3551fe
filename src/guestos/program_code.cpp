#include "guestos/program_code.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace ringside::guestos {

ProgramCode::ProgramCode(std::shared_ptr<const UserImage> program) : program_(std::move(program)) {
  const elf::ElfFile& file = *program_->file;
  if (const auto text = file.section(".text"); text && !text->bytes.empty()) {
    add(text->address, text->bytes);
    return;
  }
  for (const elf::Segment& segment : file.segments())
    if (segment.executable) add(segment.address, file.bytes_at(segment.address, segment.file_size));
}

void ProgramCode::add(ImageAddr start, Bytes bytes) {
  if (bytes.empty() || start.value + bytes.size() < start.value) return;
  ranges_.push_back({start, bytes});
  for (std::uint64_t page = start.value / kCodePage;
       page <= (start.value + bytes.size() - 1) / kCodePage; ++page)
    if (pages_.empty() || pages_.back().value < page * kCodePage)
      pages_.push_back({page * kCodePage});
}

bool ProgramCode::may_move() const { return program_->file->type() == ET_DYN; }

bool ProgramCode::covers(ImageAddr at) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return at.value - range.start.value < range.bytes.size();
  });
}

Fit ProgramCode::compare(ImageAddr at, Bytes memory) const {
  Fit fit = Fit::kSilent;
  for (const Range& range : ranges_) {
    const std::uint64_t from = std::max(at.value, range.start.value);
    const std::uint64_t to =
        std::min(at.value + memory.size(), range.start.value + range.bytes.size());
    if (from >= to) continue;
    const Bytes here = memory.subspan(from - at.value, to - from);
    if (std::memcmp(here.data(), range.bytes.data() + (from - range.start.value), to - from) != 0)
      return Fit::kDifferent;
    fit = Fit::kEqual;
  }
  return fit;
}

bool ProgramCode::is_same_as(const ProgramCode& other) const {
  return std::ranges::equal(ranges_, other.ranges_, [](const Range& a, const Range& b) {
    return a.start == b.start && std::ranges::equal(a.bytes, b.bytes);
  });
}

}  // namespace ringside::guestos
