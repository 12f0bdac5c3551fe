#pragma once

#include <optional>
#include <string>
#include <vector>

#include "importers/format.h"

namespace ringside::importers {

// A recording that nobody reads.
class FuzzedTarget final : public Target {
 public:
  Result<recording::Writer*> create(recording::Header header,
                                    const std::vector<recording::Source>& sources) override {
    if (writer_) __builtin_trap();  // to be called once
    RINGSIDE_ASSIGN(auto writer, recording::Writer::create("/dev/null", header, sources));
    writer_.emplace(std::move(writer));
    return &*writer_;
  }
  [[nodiscard]] bool is_created() const { return writer_.has_value(); }

 private:
  std::optional<recording::Writer> writer_;
};

// Imports bytes that may be anything. An import that read something has made a recording, and one
// that failed says why.
inline void import_fuzzed(Result<Imported> (*read)(std::span<const Input>, const ImportOptions&,
                                                   Target&),
                          const std::uint8_t* data, std::size_t size,
                          const ImportOptions& options = {}) {
  const Input input{"fuzzed", {reinterpret_cast<const std::byte*>(data), size}, {}};
  FuzzedTarget target;
  const auto result = read({&input, 1}, options, target);
  if (!result && result.error().message.empty()) __builtin_trap();
  if (result && result->records != 0 && !target.is_created()) __builtin_trap();
  if (result && result->records == 0) __builtin_trap();
}

}  // namespace ringside::importers
