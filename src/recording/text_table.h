#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "recording/codec/encode.h"

namespace ringside::recording {

// Numbers texts, as an Interner does values: from 1, and it forgets them where there are very many.
class TextTable {
 public:
  std::uint32_t add(std::string_view text) {
    const auto [it, added] = ids_.try_emplace(std::string(text), next_);
    if (added) {
      pending_.texts.emplace_back(text);
      pending_bytes_ += text.size();
      ++next_;
    }
    return it->second;
  }
  [[nodiscard]] std::size_t pending_count() const { return pending_.texts.size(); }
  [[nodiscard]] std::size_t pending_bytes() const { return pending_bytes_; }
  // Nothing is pending then.
  void encode_pending(std::string& payload) {
    if (!pending_.texts.empty()) encode(pending_, payload);
    pending_ = {next_, {}};
    pending_bytes_ = 0;
    if (ids_.size() > kMost) ids_.clear();
  }

 private:
  static constexpr std::size_t kMost = 1 << 18;

  std::unordered_map<std::string, std::uint32_t> ids_;
  TextBatch pending_;
  std::size_t pending_bytes_ = 0;
  std::uint32_t next_ = 1;
};

}  // namespace ringside::recording
