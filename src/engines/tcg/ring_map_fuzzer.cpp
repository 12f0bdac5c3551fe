#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "engines/tcg/ring_map.h"

// A ring that another process writes. The input is a word that says how far each vCPU claims to
// have written, 16 bytes that are laid over the header from a place on, and what lies in the rings.

namespace {

using namespace ringside;

constexpr std::size_t kControlBytes = 24;
constexpr wire::RingLayout kLayout{.vcpus = 2, .ring_bytes = 4096};

struct SharedFile {
  UniqueFd fd{::memfd_create("ring", MFD_CLOEXEC)};
  wire::RingMemory memory;
  std::string path = "/proc/self/fd/" + std::to_string(fd.get());

  SharedFile() {
    void* base = MAP_FAILED;
    if (::ftruncate(fd.get(), static_cast<off_t>(kLayout.bytes())) == 0)
      base = ::mmap(nullptr, kLayout.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (base == MAP_FAILED) std::abort();
    memory = {static_cast<std::byte*>(base), kLayout};
  }
};

// Reads all there is, twice: the second time nothing is left or the ring is damaged as before.
void read_all(engines::tcg::RingMap& ring) {
  wire::Capture capture;
  for (std::size_t n = 0; n < ring.vcpus(); ++n) {
    while (const auto record = ring.next(n, capture)) {
      if (!*record) break;
      if ((*record)->is_padding() || (*record)->vcpu.value != n) std::abort();
      for (const wire::MemoryPiece& piece : capture.pieces) (void)capture.bytes_of(piece).size();
      if ((*record)->kind == wire::RecordKind::kEvent)
        for (std::size_t value = 0; value < (*record)->values(); ++value)
          (void)(*record)->value(value);
    }
    ring.release();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SharedFile file;
  Bytes input(reinterpret_cast<const std::byte*>(data), size);
  if (input.size() < kControlBytes) return 0;
  const auto heads = load<std::uint32_t>(input, 0);
  const auto place = load<std::uint32_t>(input, 4) % (sizeof(wire::RingHeader) + 64);
  const Bytes overlay = input.subspan(8, 16);
  input = input.subspan(kControlBytes);
  const wire::RingMemory& memory = file.memory;
  memory.begin();
  memory.source(wire::SourceId::kClock).kind = wire::RecordKind::kCapture;
  memory.source(wire::SourceId::kCode).kind = wire::RecordKind::kEvent;
  memory.header().magic = wire::kRingMagic;
  const bool overlays = heads >> 31 != 0;
  if (overlays) std::memcpy(memory.base() + place, overlay.data(), overlay.size());
  auto ring = engines::tcg::RingMap::open(file.path);
  if (!ring) return 0;
  for (std::size_t n = 0; n < kLayout.vcpus; ++n) {
    const std::span<std::byte> bytes = memory.ring(n);
    const Bytes part = input.first(std::min(input.size(), bytes.size()));
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    std::copy(part.begin(), part.end(), bytes.begin());
    input = input.subspan(part.size());
    memory.vcpu(n).head = heads >> (15 * n) & 0x7fffu;
    memory.state(n, wire::SourceId::kClock).lost = overlays ? ~std::uint64_t{0} : 0;
  }
  read_all(*ring);
  read_all(*ring);
  return 0;
}
