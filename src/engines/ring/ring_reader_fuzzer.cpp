#include <cstring>
#include <vector>

#include "engines/ring/ring_reader.h"
#include "engines/ring/testing/fuzz_input.h"

// A guest that writes anything into its ring, its counts and its header while they are read.

namespace {

using namespace ringside;
using namespace ringside::engines::ring;
using testing::must;

constexpr std::uint32_t kRingWords = 1024;
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::size_t kHeadWords = (wire::GuestArea::kHeaderBytes + wire::GuestArea::kCpuBytes) / 8;

class Memory final : public AreaMemory {
 public:
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(kHeadWords + kRingWords);
  std::size_t bytes_read = 0;

  Result<std::size_t> read_up_to(AreaOffset offset, std::span<std::byte> destination) override {
    const std::size_t bytes = words.size() * 8;
    if (offset.value >= bytes) return 0;
    const std::size_t size = std::min<std::uint64_t>(bytes - offset.value, destination.size());
    std::memcpy(destination.data(), reinterpret_cast<const char*>(words.data()) + offset.value,
                size);
    bytes_read += size;
    return size;
  }
};

void use(const wire::GuestFrames& frames, std::uint64_t& sum) {
  for (const std::uint64_t address : frames.addresses) sum += address;
  for (const std::uint64_t word : frames.interruptions) sum += word;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  testing::FuzzInput input(data, size);
  wire::GuestArea area;
  area.arch = Arch::kX86_64;
  const auto shape = input.next<std::uint8_t>();
  area.pointer_bytes = (shape & 1) != 0 ? 4 : 8;
  area.mode = (shape & 2) != 0 ? wire::GuestRingMode::kDrop : wire::GuestRingMode::kOverwrite;
  area.cpus = 1;
  area.ring_words = kRingWords;
  area.cpus_at = wire::GuestArea::kHeaderBytes;
  area.rings_at = kHeadWords * 8;
  Memory memory;
  RingReader reader(memory, area, 0);
  std::uint64_t visited = 0;
  volatile std::uint64_t keep = 0;
  const auto visit = [&](const wire::GuestRecord& record, auto words) -> Result<void> {
    ++visited;
    std::uint64_t sum = record.task.name.size() + record.event.name.size() + words.size();
    use(record.sample.kernel, sum);
    use(record.sample.user, sum);
    use(record.allocation.stack, sum);
    use(record.event.stack, sum);
    for (const std::uint64_t number : record.event.numbers) sum += number;
    keep = keep + sum;
    return {};
  };
  while (!input.is_empty()) {
    const auto at = input.next<std::uint16_t>();
    if (at % 2048 >= memory.words.size()) {
      const std::size_t before = memory.bytes_read;
      must(reader.poll(visit).has_value());
      must(memory.bytes_read - before <= 8 * (kRingWords + 16));
      must(reader.counts().read == visited);
      continue;
    }
    memory.words[at % 2048] = input.next<std::uint64_t>();
  }
  must(reader.finish(visit, kNever).has_value());
  must(reader.counts().read == visited);
  const auto area_again = wire::read_guest_area(std::as_bytes(std::span(memory.words)));
  if (area_again) must(area_again->cpus >= 1);
  return 0;
}
