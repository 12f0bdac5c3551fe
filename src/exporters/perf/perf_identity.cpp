#include "exporters/perf/perf_identity.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "elf/image_map.h"
#include "exporters/perf/perf_record.h"
#include "profile/sanitize.h"

namespace ringside::exporters::perf {
namespace {

constexpr std::size_t kMostPart = 200;  // file names of 255 bytes are allowed
constexpr std::size_t kMostParts = 8;   // the last ones of a path
constexpr std::string_view kFolder = "/guest";

// One part of a path that is a file's name and nothing else, on every file system.
std::string safe_part(std::string_view part) {
  std::string safe = profile::sanitize(part.substr(0, kMostPart));
  if (safe.size() > kMostPart) {
    std::size_t length = kMostPart;
    while ((static_cast<unsigned char>(safe[length]) & 0xc0) == 0x80) --length;  // whole characters
    safe.resize(length);
  }
  std::replace(safe.begin(), safe.end(), '/', '_');
  return safe == "." || safe == ".." ? "_" : safe;
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) parts.push_back(safe_part(path.substr(0, slash)));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  if (parts.size() > kMostParts) parts.erase(parts.begin(), parts.end() - kMostParts);
  return parts;
}

// perf takes "[kernel.…]", "[guest.…]" and "[vdso]" for what they are on the host.
std::string module_name(std::string_view name) {
  std::string safe = safe_part(name);
  std::replace_if(
      safe.begin(), safe.end(), [](char c) { return c == '.' || c == ']'; }, '_');
  return safe.starts_with("vdso") || safe.starts_with("vsyscall") ? safe + "_" : safe;
}

}  // namespace

std::string dso_path(const recording::ImageInfo* info, bool is_kernel) {
  if (info == nullptr)
    return is_kernel ? std::string(profile::kNobodyName)
                     : fmt::format("{}/{}", kFolder, profile::kNobodyName);
  if (is_kernel && info->name == elf::kKernelImage) return "[kernel.kallsyms]";
  if (is_kernel) return fmt::format("[{}]", module_name(info->name));
  const std::string name = safe_part(info->name);
  std::string path(kFolder);
  const std::vector<std::string> parts = parts_of(info->path);
  if (parts.empty() || parts.back() != name) return path + "/" + name;
  for (const std::string& part : parts) path += "/" + part;
  return path;
}

std::string numbered_dso_path(const std::string& path, int number) {
  if (path.starts_with('['))
    return fmt::format("[{}_{}]", module_name(path.substr(1, path.size() - 2)), number);
  return fmt::format("{}/{}{}", kFolder, number, path.substr(kFolder.size()));
}

std::vector<std::byte> Fingerprint::build_id() const {
  const XXH128_hash_t hash = XXH3_128bits(text_.data(), text_.size());
  std::vector<std::byte> id(kMostBuildId);
  std::memcpy(id.data(), &hash, sizeof hash);
  std::memcpy(id.data() + sizeof hash, &hash, kMostBuildId - sizeof hash);
  return id;
}

}  // namespace ringside::exporters::perf
