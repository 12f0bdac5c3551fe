#include "importers/perf_data/decompression.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

namespace ringside::importers::perf_data {
namespace {

constexpr std::size_t kPiece = 256 << 10;
// perf's own records become 3 to 100 times as much.
constexpr std::uint64_t kMostGrowth = 4096;

}  // namespace

void Decompression::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Decompression::Decompression() : context_(ZSTD_createDCtx()) {}

void Decompression::give(Bytes compressed) {
  input_ = compressed;
  given_ += compressed.size();
}

Result<std::vector<std::byte>> Decompression::next() {
  std::vector<std::byte> bytes;
  if (is_broken_ || (input_.empty() && !may_have_more_)) return bytes;
  const std::size_t kept = kept_.size();
  bytes = std::move(kept_);
  kept_.clear();
  bytes.resize(kept + kPiece);
  ZSTD_inBuffer in{input_.data(), input_.size(), 0};
  ZSTD_outBuffer out{bytes.data(), bytes.size(), kept};
  while (out.pos < out.size) {
    const std::size_t before = in.pos + out.pos;
    const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(result) != 0) {
      is_broken_ = true;
      return fail(ErrorCode::kFormat, "no zstd stream: {}", ZSTD_getErrorName(result));
    }
    if (in.pos + out.pos == before || in.pos == in.size) break;
  }
  may_have_more_ = out.pos == out.size;
  input_ = input_.subspan(in.pos);
  taken_ += out.pos - kept;
  if (taken_ / kMostGrowth > given_) {
    is_broken_ = true;
    return fail(ErrorCode::kFormat, "{} bytes became {} when they were decompressed", given_,
                taken_);
  }
  if (out.pos == kept && !may_have_more_ && input_.empty()) {
    // Nothing new.
    bytes.resize(kept);
    kept_ = std::move(bytes);
    return std::vector<std::byte>();
  }
  bytes.resize(out.pos);
  if (bytes.size() < kPiece / 2) bytes.shrink_to_fit();
  return bytes;
}

}  // namespace ringside::importers::perf_data
