#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "memory/ram_reader.h"
#include "memory/x86_64/page_walk.h"

namespace ringside::memory::testing {

// 128 KiB of RAM in one block, with page tables of x86_64 by which pages 0 to 6 of an address space
// are the physical pages 8, 9, 15, nothing, one that is not RAM, 10 and 11. From page 8 up each
// word holds its physical address. The table of the address space's second 2 MiB is not RAM.
class StoppedRam {
 public:
  StoppedRam() : bytes_(kBytes) {
    put(0x1000, 0x2001);
    put(0x2000, 0x3001);
    put(0x3000, 0x4001);
    put(0x3008, 0x70000001);
    const std::uint64_t mapped[] = {0x8001, 0x9001, 0xf001, 0, 0x70000001, 0xa001, 0xb001};
    for (std::uint64_t i = 0; i < std::size(mapped); ++i) put(0x4000 + 8 * i, mapped[i]);
    for (std::uint64_t at = 0x8000; at < kBytes; at += 8) put(at, at);
    std::vector<std::unique_ptr<RamBlockReader>> blocks;
    blocks.push_back(std::make_unique<Block>(*this));
    ram_ = std::make_unique<RamMemory>(std::vector<RamRange>{{GuestPhys{0}, kBytes, 0, 0}},
                                       std::move(blocks), nullptr);
  }
  StoppedRam(const StoppedRam&) = delete;
  StoppedRam& operator=(const StoppedRam&) = delete;

  [[nodiscard]] RamMemory& ram() { return *ram_; }
  [[nodiscard]] const PageTables& tables() const { return tables_; }
  void put(std::uint64_t at, std::uint64_t value) {
    std::memcpy(bytes_.data() + at, &value, sizeof(value));
  }

  std::size_t calls = 0;  // of read_pages()
  std::size_t pages = 0;  // that these asked for
  bool is_lost = false;   // every read fails

 private:
  static constexpr std::size_t kBytes = 0x20000;

  class Block final : public RamBlockReader {
   public:
    explicit Block(StoppedRam& owner) : owner_(owner) {}
    Result<std::size_t> read_up_to(RamOffset offset, std::span<std::byte> destination) override {
      if (owner_.is_lost) return fail(ErrorCode::kClosed, "lost");
      std::copy_n(owner_.bytes_.begin() + static_cast<std::ptrdiff_t>(offset.value),
                  destination.size(), destination.begin());
      return destination.size();
    }
    Result<std::size_t> read_pages(std::span<const RamOffset> offsets,
                                   std::span<std::byte> destination) override {
      ++owner_.calls;
      owner_.pages += offsets.size();
      return RamBlockReader::read_pages(offsets, destination);
    }

   private:
    StoppedRam& owner_;
  };

  std::vector<std::byte> bytes_;
  std::unique_ptr<RamMemory> ram_;
  x86_64::LongModeTables tables_{0x1000, false};
};

}  // namespace ringside::memory::testing
