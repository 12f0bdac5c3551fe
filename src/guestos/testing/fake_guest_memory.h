#pragma once

#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "arch/execution_mode.h"
#include "base/byte_reader.h"
#include "guestos/guest_memory.h"

namespace ringside::guestos::testing {

// Address spaces by the root of their page tables, in pages that are there once something was put
// into them. The kernel's is that of root 0; every address space has it too.
class FakeGuestMemory final : public GuestMemory {
 public:
  void put(std::uint64_t root, std::uint64_t at, Bytes bytes) {
    for (const std::byte byte : bytes) {
      auto& page = pages_[{root, at / kPage}];
      page.resize(kPage);
      page[at++ % kPage] = byte;
    }
  }
  template <class T>
  void put_value(std::uint64_t root, std::uint64_t at, T value) {
    put(root, at, std::as_bytes(std::span(&value, 1)));
  }
  void remove_page(std::uint64_t root, std::uint64_t at) { pages_.erase({root, at / kPage}); }

  [[nodiscard]] Result<std::size_t> read_kernel(GuestVirt address,
                                                std::span<std::byte> into) override {
    return read(0, address, into);
  }
  [[nodiscard]] Result<std::size_t> read_as(const wire::Capture& capture, GuestVirt address,
                                            std::span<std::byte> into) override {
    return read(arch::user_root(capture.arch, capture.registers).value_or(0), address, into);
  }
  // Each root has pages of its own, unless it is in `same_as`.
  [[nodiscard]] Result<std::optional<GuestPhys>> physical_address_as(const wire::Capture& capture,
                                                                     GuestVirt at) override {
    std::uint64_t root = arch::user_root(capture.arch, capture.registers).value_or(0);
    if (const auto other = same_as.find(root); other != same_as.end()) root = other->second;
    if (!pages_.contains({root, at.value / kPage})) return std::nullopt;
    return GuestPhys{root << 20 | at.value};
  }
  std::map<std::uint64_t, std::uint64_t> same_as;  // roots that map the pages of another one

  [[nodiscard]] bool reads_processes() const override { return has_physical; }
  [[nodiscard]] memory::PhysicalMemory* physical() override { return nullptr; }

  bool has_physical = true;

  std::size_t reads = 0;
  std::size_t bytes_read = 0;

 private:
  static constexpr std::uint64_t kPage = 4096;

  Result<std::size_t> read(std::uint64_t root, GuestVirt address, std::span<std::byte> into) {
    ++reads;
    std::size_t count = 0;
    for (; count < into.size(); ++count) {
      const std::uint64_t at = address.value + count;
      auto page = pages_.find({root, at / kPage});
      if (page == pages_.end()) page = pages_.find({0, at / kPage});
      if (page == pages_.end()) break;
      into[count] = page->second[at % kPage];
    }
    bytes_read += count;
    return count;
  }

  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::byte>> pages_;
};

}  // namespace ringside::guestos::testing
