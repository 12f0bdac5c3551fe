#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace ringside::guestos {

// The programs and libraries of an initramfs, as the kernel unpacks it: cpio archives ("newc"), any
// number of them one behind the other, each packed by itself or not (Linux,
// Documentation/driver-api/early-userspace/buffer-format.rst; init/initramfs.c).
class Initramfs {
 public:
  // Limit on the size of all packed parts together, bytes when unpacked.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  // Nor are there more files, folders and links.
  static constexpr std::size_t kMaxEntries = 1 << 20;

  // Errors name the file; those of from_bytes().
  [[nodiscard]] static Result<Initramfs> open(const std::filesystem::path& path);
  // kFormat, kTruncated: no archive, or a damaged one; kUnsupported: too large, or in an older
  // format that the kernel does not take either.
  [[nodiscard]] static Result<Initramfs> from_bytes(Bytes bytes, std::size_t max_bytes = kMaxBytes);

  // The contents of the ELF file (of any but object files: modules) with this path from the root,
  // whatever links the archives led through; empty where there is none.
  [[nodiscard]] Bytes find(const std::string& path) const;

 private:
  using Contents = std::shared_ptr<const std::vector<std::byte>>;
  class Unpacking;

  std::map<std::string, Contents> files_;  // by their path without the slash in front
};

}  // namespace ringside::guestos
