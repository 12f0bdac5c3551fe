#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory_reader.h"
#include "engines/ring/ring_reader.h"
#include "engines/ring/vcpu_tables.h"
#include "wire/guest_area.h"

namespace ringside::engines::ring {

// The area of a guest's rings, and how its memory is read.
struct FoundArea {
  wire::GuestArea area;
  GuestPhys start;
  std::unique_ptr<AreaMemory> memory;
  // Those of the vCPU with the page tables that map it; none where addresses are not translated.
  std::optional<arch::Registers> registers;
};

// Searches a guest's RAM for the area of the guest library, while the guest runs: an area begins a
// page, and says itself at which virtual address it is. A step takes some hundredths of a second,
// whatever the guest has in its memory. `physical` outlives what is found.
class AreaFinder {
 public:
  // `machine` is the guest's: areas of others are none of it.
  AreaFinder(PhysicalMemory& physical, Arch machine)
      : physical_(physical), machine_(machine), chunk_(kChunk) {}

  // The page tables that a vCPU may use, asked for where there may be an area; none where addresses
  // are not translated, and the area is read as it lies in RAM then.
  using Tables = std::function<Result<const TablesOfVcpu*>()>;

  // An area that starts there is not wanted.
  void leave_out(GuestPhys start) { left_out_ = start; }
  // Searches on, behind what was found last. Errors: those of the memory and of `tables`; the next
  // step looks again there.
  [[nodiscard]] Result<std::optional<FoundArea>> step(const Tables& tables);
  // All of RAM was searched.
  [[nodiscard]] bool is_done() const { return hole_ >= kLargestHole; }
  // An area was seen that the page tables of then do not map: it may be a copy, or theirs.
  [[nodiscard]] bool has_unmapped() const { return has_unmapped_; }
  // Why an area that is there was not taken; empty where there is none.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  static constexpr std::size_t kChunk = 1 << 20;
  static constexpr std::uint64_t kStep = 256 << 20;  // bytes of RAM
  // RAM of a machine has holes, and ends somewhere: 8 GiB without any are its end.
  static constexpr std::uint64_t kLargestHole = std::uint64_t{8} << 30;
  // Areas that a guest makes up cost no more than so many walks, all together.
  static constexpr std::uint64_t kMostWalks = 1 << 21;

  [[nodiscard]] Result<std::optional<FoundArea>> found_at(GuestPhys start, Bytes page,
                                                          const Tables& tables_now);

  PhysicalMemory& physical_;
  Arch machine_;
  std::vector<std::byte> chunk_;
  std::optional<GuestPhys> left_out_;
  std::uint64_t at_ = 0;    // the begin of a page
  std::uint64_t hole_ = 0;  // bytes before at_ in which there is no RAM
  std::uint64_t walks_left_ = kMostWalks;
  bool has_unmapped_ = false;
  std::string why_not_;
};

}  // namespace ringside::engines::ring
