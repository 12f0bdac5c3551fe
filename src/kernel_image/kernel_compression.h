#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace ringside::kernel_image {

// Compression formats of a kernel's payload and of an initramfs: the choices of "Kernel compression
// mode" in Linux' init/Kconfig.
enum class Compression { kGzip, kBzip2, kLzma, kXz, kLzo, kLz4, kZstd };

[[nodiscard]] std::string_view name_of(Compression compression);

// By its first bytes; the magic numbers are those of lib/decompress.c (Linux 6.1).
[[nodiscard]] std::optional<Compression> compression_of(Bytes bytes);

struct Unpacked {
  std::vector<std::byte> bytes;
  std::size_t used = 0;  // bytes of the input that the stream takes
};

// Decompresses the stream at the front of `bytes`; what follows the stream is ignored. More than
// `max_size` bytes are an error, as is a stream that is damaged or ends too early; errors do not
// name the file.
[[nodiscard]] Result<Unpacked> decompress_stream(Compression compression, Bytes bytes,
                                                 std::size_t max_size);
// The same for a kernel: the size that its build appends to most streams is ignored.
[[nodiscard]] Result<std::vector<std::byte>> decompress_kernel(Compression compression, Bytes bytes,
                                                               std::size_t max_size);

// The two formats that are block lists of a tool's own around a library's blocks.
[[nodiscard]] Result<Unpacked> decompress_lz4_legacy(Bytes bytes, std::size_t max_size);
[[nodiscard]] Result<Unpacked> decompress_lzop(Bytes bytes, std::size_t max_size);

}  // namespace ringside::kernel_image
