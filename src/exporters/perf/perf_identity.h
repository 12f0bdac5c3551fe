#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recording/records.h"

namespace ringside::exporters::perf {

// The name of an image in perf.data; null: of names without an image. The kernel is
// "[kernel.kallsyms]", other kernel code is "[NAME]", all else is below "/guest", where neither
// perf nor hotspot finds a file of the host by mistake.
[[nodiscard]] std::string dso_path(const recording::ImageInfo* info, bool is_kernel);
// The name of another image that would have the same one.
[[nodiscard]] std::string numbered_dso_path(const std::string& path, int number);

// A build id of 20 bytes for an image that has none: XXH3-128 over what makes it the image it is,
// and its first bytes again. (hotspot knows no shorter ones.)
class Fingerprint {
 public:
  void add(std::string_view text) { text_.append(text).push_back('\0'); }
  void add(std::uint64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  [[nodiscard]] std::vector<std::byte> build_id() const;

 private:
  std::string text_;
};

}  // namespace ringside::exporters::perf
