#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ringside::profile {

using StringId = std::uint32_t;

// Every distinct string once. Id 0 is the empty string; views stay valid as long as the table.
class StringTable {
 public:
  StringTable() { intern(""); }
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;

  StringId intern(std::string_view text) {
    if (const auto it = ids_.find(text); it != ids_.end()) return it->second;
    const auto id = static_cast<StringId>(strings_.size());
    ids_.emplace(strings_.emplace_back(text), id);
    return id;
  }
  [[nodiscard]] std::string_view operator[](StringId id) const { return strings_[id]; }
  [[nodiscard]] std::size_t size() const { return strings_.size(); }

 private:
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace ringside::profile
