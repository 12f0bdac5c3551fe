#include "wire/recipe.h"

namespace ringside::wire {

void finish_piece(Capture& capture, const MemoryRequest& request, std::size_t offset) {
  std::vector<std::byte>& bytes = capture.bytes;
  const auto start = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  if (request.what == MemoryRequest::What::kValue) {
    const auto value = std::as_bytes(std::span(&request.value, 1));
    bytes.insert(start, value.begin(), value.end());
  } else if (request.what == MemoryRequest::What::kString) {
    bytes.erase(std::find(start, bytes.end(), std::byte{0}), bytes.end());
  }
  capture.pieces.push_back({.address = request.address,
                            .why = request.why,
                            .requested = std::max(request.requested, request.size),
                            .offset = static_cast<std::uint32_t>(offset),
                            .size = static_cast<std::uint32_t>(bytes.size() - offset),
                            .tag = request.tag});
}

}  // namespace ringside::wire
