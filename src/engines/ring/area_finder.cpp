#include "engines/ring/area_finder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "arch/arch_info.h"
#include "engines/ring/mapped_area.h"

namespace ringside::engines::ring {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLargestArea = std::uint64_t{4} << 30;  // a guest may claim anything

bool begins_area(Bytes page) {
  return std::memcmp(page.data(), wire::kGuestAreaMagic.data(), sizeof(wire::kGuestAreaMagic)) == 0;
}

}  // namespace

// The bytes of the magic may also lie in a kernel's file, or in a copy of an older area: only what
// is where it says that it is counts.
Result<std::optional<FoundArea>> AreaFinder::found_at(GuestPhys start, Bytes page,
                                                      const Tables& tables_now) {
  if (walks_left_ == 0) return std::nullopt;  // too many that claim to be one
  const auto area = wire::read_guest_area(page);
  if (!area) {
    why_not_ = area.error().message;
    return std::nullopt;
  }
  const bool both_are_x86 = arch::info_of(machine_).is_x86 && arch::info_of(area->arch).is_x86;
  if (area->arch != machine_ && !both_are_x86) {
    why_not_ = fmt::format("the rings are of {}, and the machine is {}", arch::name_of(area->arch),
                           arch::name_of(machine_));
    return std::nullopt;
  }
  if (area->bytes() > kLargestArea) {
    why_not_ = fmt::format("the guest's rings have {} bytes, and ringside reads {} at most",
                           area->bytes(), kLargestArea);
    return std::nullopt;
  }
  RINGSIDE_ASSIGN(const TablesOfVcpu* const tables, tables_now());
  if (tables->empty())
    return FoundArea{*area, start, area_in_ram(start, area->bytes(), physical_), std::nullopt};
  RINGSIDE_ASSIGN(const auto* const used, tables_that_map(area->self, start, *tables, physical_));
  walks_left_ -= std::min<std::uint64_t>(walks_left_, tables->size());
  if (used == nullptr) {
    has_unmapped_ = true;
    return std::nullopt;
  }
  RINGSIDE_ASSIGN(auto memory,
                  map_area(area->self, area->bytes(), *used->tables, physical_, walks_left_));
  if (!memory) return std::nullopt;
  return FoundArea{*area, start, std::move(memory), used->registers};
}

Result<std::optional<FoundArea>> AreaFinder::step(const Tables& tables) {
  // Holes in RAM begin and end where a chunk does, or the chunk is read up to there.
  std::size_t wanted = 0;
  for (std::uint64_t read = 0; read < kStep && !is_done(); at_ += wanted) {
    wanted = kChunk - at_ % kChunk;
    const auto chunk = std::span(chunk_).first(wanted);
    RINGSIDE_ASSIGN(const std::size_t got, physical_.read_up_to(GuestPhys{at_}, chunk));
    read += got;
    hole_ = got == 0 ? hole_ + wanted : 0;
    for (std::size_t page = 0; page + kPage <= got; page += kPage) {
      const Bytes bytes = Bytes(chunk_).subspan(page, kPage);
      if (!begins_area(bytes) || left_out_ == GuestPhys{at_ + page}) continue;
      RINGSIDE_ASSIGN(auto found, found_at(GuestPhys{at_ + page}, bytes, tables));
      if (!found) continue;
      at_ += page + kPage;
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace ringside::engines::ring
