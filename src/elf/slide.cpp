#include "elf/slide.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace ringside::elf {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kWindowBytes = 256;
constexpr std::size_t kMinCompared = 512;
constexpr std::size_t kMaxAddresses = 64;
constexpr double kSameShare = 0.8;
constexpr double kOtherShare = 0.6;  // of the second best place
// Of the first window: enough to look at the others, too.
constexpr double kFirstShare = 0.4;

struct Window {
  GuestVirt address;
  std::vector<std::byte> bytes;
};

// What is in memory at the address and around it, up to 1 MiB away.
Result<std::vector<Window>> read_windows(GuestVirt code, const GuestReader& read) {
  constexpr std::array<std::int64_t, 11> kDistances{
      0,           4 << 10,   -(4 << 10),   16 << 10, -(16 << 10), 64 << 10,
      -(64 << 10), 256 << 10, -(256 << 10), 1 << 20,  -(1 << 20)};
  std::vector<Window> windows;
  for (const std::int64_t distance : kDistances) {
    const GuestVirt at{code.value / kWindowBytes * kWindowBytes +
                       static_cast<std::uint64_t>(distance)};
    Window window{at, std::vector<std::byte>(kWindowBytes)};
    RINGSIDE_ASSIGN(const std::size_t count, read(at, window.bytes));
    window.bytes.resize(std::min(count, kWindowBytes));
    if (windows.empty() && window.bytes.empty()) break;
    windows.push_back(std::move(window));
  }
  return windows;
}

class Search {
 public:
  Search(const ElfFile& file, const std::vector<Window>& windows)
      : file_(file), windows_(windows) {}

  // The best place, if it is good, and no other comes near.
  std::optional<Slide> run() {
    const GuestVirt at = windows_.front().address;
    for (const Segment& segment : file_.segments()) {
      if (!segment.executable) continue;
      const std::uint64_t first = segment.address.value / kPage * kPage + at.value % kPage;
      for (std::uint64_t offset = 0; offset < segment.file_size; offset += kPage)
        try_slide(at.value - (first + offset));
    }
    if (best_.compared < kMinCompared || share(best_) < kSameShare || second_share_ > kOtherShare)
      return std::nullopt;
    return best_;
  }

 private:
  static double share(const Slide& slide) {
    return slide.compared == 0
               ? 0
               : static_cast<double>(slide.equal) / static_cast<double>(slide.compared);
  }

  void try_slide(std::uint64_t value) {
    Slide slide{.value = value};
    for (const Window& window : windows_) {
      compare(window, slide);
      if (&window == &windows_.front() && share(slide) < kFirstShare) return;
    }
    if (slide.value == best_.value) return;  // segments may share a page
    if (share(slide) > share(best_)) {
      second_share_ = share(best_);
      best_ = slide;
    } else {
      second_share_ = std::max(second_share_, share(slide));
    }
  }

  void compare(const Window& window, Slide& slide) const {
    const ImageAddr at{window.address.value - slide.value};
    if (!file_.is_code(at)) return;
    const Bytes in_file = file_.bytes_at(at, window.bytes.size());
    slide.compared += in_file.size();
    for (std::size_t i = 0; i < in_file.size(); ++i) slide.equal += in_file[i] == window.bytes[i];
  }

  const ElfFile& file_;
  const std::vector<Window>& windows_;
  Slide best_{.value = ~std::uint64_t{0}};  // no multiple of a page
  double second_share_ = 0;
};

}  // namespace

Result<Slide> find_slide(const ElfFile& file, std::span<const GuestVirt> code,
                         const GuestReader& read) {
  std::size_t readable = 0;
  for (const GuestVirt address : code.first(std::min(code.size(), kMaxAddresses))) {
    RINGSIDE_ASSIGN(const std::vector<Window> windows, read_windows(address, read));
    if (windows.empty()) continue;
    ++readable;
    if (const auto slide = Search(file, windows).run()) return *slide;
  }
  if (readable == 0)
    return fail(ErrorCode::kNotFound, "none of {} code addresses of the guest can be read",
                code.size());
  return fail(ErrorCode::kNotFound,
              "the code of {} is not in the guest at {}: another kernel runs there, or it is not "
              "the kernel's code",
              file.name(), code.front());
}

Result<std::vector<GuestVirt>> exception_handlers(Arch arch, GuestVirt table,
                                                  const GuestReader& read) {
  constexpr std::size_t kVectors = 32;
  constexpr std::size_t kPresentAt = 5;
  const std::size_t gate = arch == Arch::kX86_64 ? 16 : 8;
  std::vector<std::byte> bytes(kVectors * gate);
  RINGSIDE_ASSIGN(const std::size_t count, read(table, bytes));
  bytes.resize(std::min(count, bytes.size()));
  std::vector<GuestVirt> handlers;
  // Intel SDM volume 3, 6.11 and 6.14.1: bits 0 to 15, 16 to 31 and 32 to 63 of the handler.
  for (std::size_t at = 0; at + gate <= bytes.size(); at += gate) {
    if ((std::to_integer<unsigned>(bytes[at + kPresentAt]) & 0x80) == 0) continue;
    std::uint64_t handler = 0;
    std::memcpy(&handler, bytes.data() + at, 2);
    std::uint16_t middle = 0;
    std::memcpy(&middle, bytes.data() + at + 6, 2);
    std::uint32_t high = 0;
    if (arch == Arch::kX86_64) std::memcpy(&high, bytes.data() + at + 8, 4);
    handler |= std::uint64_t{middle} << 16 | std::uint64_t{high} << 32;
    if (handler != 0) handlers.push_back({handler});
  }
  return handlers;
}

}  // namespace ringside::elf
