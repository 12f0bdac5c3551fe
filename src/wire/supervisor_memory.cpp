#include "wire/supervisor_memory.h"

#include <algorithm>

#include "arch/riscv64_tables.h"

namespace ringside::wire {
namespace {

using arch::riscv64::kIndexBits;
using arch::riscv64::kPageBits;
using arch::riscv64::TableEntry;

constexpr std::uint64_t kPage = std::uint64_t{1} << kPageBits;
constexpr std::uint64_t kEntries = std::uint64_t{1} << kIndexBits;
constexpr std::uint64_t kBytesOfATable = kEntries * kPage;

}  // namespace

SupervisorMemory::SupervisorMemory(std::uint64_t satp) : root_(arch::riscv64::root_of(satp)) {
  const auto levels = arch::riscv64::levels_of(satp);
  is_known_ = levels.has_value();
  levels_ = levels.value_or(0);
}

bool SupervisorMemory::is_address(std::uint64_t address) const {
  if (!is_known_) return false;
  if (levels_ == 0) return true;
  const auto high = static_cast<std::int64_t>(address) >> (kPageBits + kIndexBits * levels_ - 1);
  return high == 0 || high == -1;
}

bool SupervisorMemory::want(const MemoryRequest& request) {
  const std::uint64_t at = request.read_at.value;
  if (!is_address(at) || (request.is_load() && at % kPage + request.size > kPage)) return false;
  wanted_ = request;
  return true;
}

const SupervisorMemory::Page* SupervisorMemory::find(std::uint64_t address) const {
  const auto found = std::find_if(pages_.begin(), pages_.end(), [&](const Page& page) {
    return address - page.start < page.bytes;
  });
  return found == pages_.end() ? nullptr : &*found;
}

void SupervisorMemory::keep(const Page& page) {
  pages_[next_page_] = page;
  next_page_ = (next_page_ + 1) % pages_.size();
}

bool SupervisorMemory::give_up() {
  wanted_.reset();
  walks_ = false;
  return false;
}

// As much of what is wanted as lies in the page. A string ends with it.
MemoryRequest SupervisorMemory::part_in(const Page& page) {
  MemoryRequest part = *wanted_;
  const std::uint64_t offset = wanted_->read_at.value - page.start;
  part.read_at = GuestVirt{page.physical + offset};
  part.requested = part.size;
  part.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(part.size, page.bytes - offset));
  if (part.what == MemoryRequest::What::kCopy && part.size < wanted_->size) {
    wanted_->address = wanted_->address + part.size;
    wanted_->read_at = wanted_->read_at + part.size;
    wanted_->size -= part.size;
  } else {
    wanted_.reset();
  }
  return part;
}

std::optional<MemoryRequest> SupervisorMemory::next() {
  if (!wanted_ || walks_) return std::nullopt;
  const std::uint64_t at = wanted_->read_at.value;
  if (levels_ == 0) return part_in({at - at % kPage, kPage, at - at % kPage});
  if (const Page* page = find(at)) return part_in(*page);
  if (table_ == 0 && at - last_table_.start < last_table_.bytes) {
    table_ = last_table_.physical;
    level_ = 0;
  } else if (table_ == 0) {
    table_ = root_;
    level_ = levels_ - 1;
  }
  walks_ = true;
  const std::uint64_t index = at >> shift() & (kEntries - 1);
  const GuestVirt entry{table_ + index * sizeof(std::uint64_t)};
  return MemoryRequest{.what = MemoryRequest::What::kLoad,
                       .address = entry,
                       .read_at = entry,
                       .size = sizeof(std::uint64_t)};
}

bool SupervisorMemory::entry(std::optional<std::uint64_t> value) {
  walks_ = false;
  table_ = 0;
  if (!value) return give_up();
  const std::uint64_t at = wanted_->read_at.value;
  const auto decoded = TableEntry::decode(*value, level_, at);
  if (decoded.kind == TableEntry::Kind::kNotPresent) return give_up();
  if (decoded.kind == TableEntry::Kind::kTable) {
    --level_;
    table_ = decoded.address;
    if (level_ == 0) last_table_ = {at - at % kBytesOfATable, kBytesOfATable, table_};
    return table_ != 0 || give_up();
  }
  const std::uint64_t bytes = std::uint64_t{1} << shift();
  keep({at - at % bytes, bytes, decoded.address});
  return true;
}

}  // namespace ringside::wire
