#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "elf/identity.h"

namespace ringside::elf {

// A guest's virtual memory in pieces; what is between them is not mapped.
class FakeGuest {
 public:
  void put(std::uint64_t address, Bytes bytes) { pieces_[address] = {bytes.begin(), bytes.end()}; }

  // The bytes of the piece that holds `address`, which must be in one.
  std::vector<std::byte>& at(std::uint64_t address) {
    return std::prev(pieces_.upper_bound(address))->second;
  }

  // Must not outlive the guest.
  [[nodiscard]] GuestReader reader() {
    return [this](GuestVirt address, std::span<std::byte> into) -> Result<std::size_t> {
      std::size_t done = 0;
      while (done < into.size()) {
        const std::uint64_t from = address.value + done;
        auto piece = pieces_.upper_bound(from);
        if (piece == pieces_.begin()) break;
        --piece;
        const std::uint64_t offset = from - piece->first;
        if (offset >= piece->second.size()) break;
        const std::size_t count =
            std::min<std::size_t>(into.size() - done, piece->second.size() - offset);
        std::copy_n(piece->second.begin() + static_cast<std::ptrdiff_t>(offset), count,
                    into.begin() + static_cast<std::ptrdiff_t>(done));
        done += count;
      }
      return done;
    };
  }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> pieces_;
};

}  // namespace ringside::elf
