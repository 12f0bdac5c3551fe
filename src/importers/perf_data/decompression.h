#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

struct ZSTD_DCtx_s;

namespace ringside::importers::perf_data {

// The zstd stream that all COMPRESSED records of a file are pieces of.
class Decompression {
 public:
  Decompression();

  void give(Bytes compressed);
  // The next bytes, not more than some hundred KB, behind those that keep() was given. Empty where
  // more has to be given. Errors: kFormat for what is no such stream, or becomes more than 4096
  // times as much; nothing more comes then.
  [[nodiscard]] Result<std::vector<std::byte>> next();
  // Bytes of the last piece that are the beginning of something.
  void keep(Bytes rest) { kept_.assign(rest.begin(), rest.end()); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  Bytes input_;
  bool may_have_more_ = false;  // the last output was full
  bool is_broken_ = false;
  std::vector<std::byte> kept_;
  std::uint64_t taken_ = 0;  // bytes
  std::uint64_t given_ = 0;
};

}  // namespace ringside::importers::perf_data
