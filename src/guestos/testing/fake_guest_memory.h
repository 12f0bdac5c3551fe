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

  [[nodiscard]] GuestSpace& kernel() override { return kernel_; }
  // Each root has pages of its own, unless it is in `same_as`.
  [[nodiscard]] std::unique_ptr<GuestSpace> space_of(const wire::Capture& capture) override {
    return std::make_unique<Space>(*this,
                                   arch::user_root(capture.arch, capture.registers).value_or(0));
  }
  std::map<std::uint64_t, std::uint64_t> same_as;  // roots that map the pages of another one

  [[nodiscard]] bool reads_processes() const override { return has_physical; }
  [[nodiscard]] PhysicalMemory* physical() override { return nullptr; }

  bool has_physical = true;

  std::size_t reads = 0;
  std::size_t bytes_read = 0;

 private:
  static constexpr std::uint64_t kPage = 4096;

  class Space final : public GuestSpace {
   public:
    Space(FakeGuestMemory& memory, std::uint64_t root) : memory_(memory), root_(root) {}
    [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt address,
                                                 std::span<std::byte> into) override {
      return memory_.read(root_, address, into);
    }
    [[nodiscard]] Result<std::optional<GuestPhys>> physical_address(GuestVirt at) override {
      const auto other = memory_.same_as.find(root_);
      const std::uint64_t root = other != memory_.same_as.end() ? other->second : root_;
      if (!memory_.pages_.contains({root, at.value / kPage})) return std::nullopt;
      return GuestPhys{root << 20 | at.value};
    }

   private:
    FakeGuestMemory& memory_;
    std::uint64_t root_;
  };

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
  Space kernel_{*this, 0};
};

}  // namespace ringside::guestos::testing
