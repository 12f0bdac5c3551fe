#include "guestos/linux/files/page_cache_file.h"

#include <algorithm>

namespace ringside::guestos {
namespace {

class CacheReader {
 public:
  CacheReader(const LinuxTypes& types, const KernelReader& read, const PageFrames& frames,
              PhysicalMemory& physical, const GuestFile& file)
      : types_(types), read_(read), frames_(frames), physical_(physical), file_(file) {}

  // True if the page was there.
  Result<bool> take(const XarrayEntry& entry, std::span<std::byte> into);

 private:
  // The struct page of an entry's index: entries are a folio's first page.
  Result<std::optional<GuestVirt>> page_of(const XarrayEntry& entry);

  const LinuxTypes& types_;
  const KernelReader& read_;
  const PageFrames& frames_;
  PhysicalMemory& physical_;
  const GuestFile& file_;
};

Result<std::optional<GuestVirt>> CacheReader::page_of(const XarrayEntry& entry) {
  const auto folio = read_.object(GuestVirt{entry.pointer}, types_.page.bytes, "struct page");
  if (!folio) {
    if (is_of_memory(folio.error().code)) return std::nullopt;
    return tl::unexpected<Error>(folio.error());
  }
  constexpr std::uint64_t kMostPages = 1u << 18;  // of a folio; hugetlbfs has pages of 1 GiB
  const std::uint64_t within = entry.index - folio->number(types_.page.index);
  const bool is_ready = (folio->number(types_.page.flags) & types_.page.uptodate_mask) != 0;
  if (folio->pointer(types_.page.mapping) != file_.mapping || within >= kMostPages || !is_ready)
    return std::nullopt;
  return GuestVirt{entry.pointer} + within * frames_.struct_size();
}

Result<bool> CacheReader::take(const XarrayEntry& entry, std::span<std::byte> into) {
  RINGSIDE_ASSIGN(const auto page, page_of(entry));
  const auto address = page ? frames_.address_of(*page) : std::nullopt;
  if (!address) return false;
  RINGSIDE_ASSIGN(const std::size_t got, physical_.read_up_to(*address, into));
  return got == into.size();
}

}  // namespace

Result<CachedFile> read_cached_file(const LinuxTypes& types, const KernelReader& read,
                                    const PageFrames& frames, PhysicalMemory& physical,
                                    const GuestFile& file) {
  if (file.identity.size > kMaxCachedFile)
    return fail(ErrorCode::kUnsupported, "{}: {} bytes are too many to read from the page cache",
                file.path, file.identity.size);
  CachedFile cached;
  cached.page_size = types.page_size;
  const std::size_t pages = (file.identity.size + types.page_size - 1) / types.page_size;
  RINGSIDE_ASSIGN(const KernelObject mapping,
                  read.object(file.mapping, types.page_cache_head.end(), "struct address_space"));
  RINGSIDE_ASSIGN(const auto entries,
                  read_xarray(types.xarray, read, mapping.number(types.page_cache_head), pages));
  cached.bytes.resize(file.identity.size);
  cached.present.resize(pages);
  CacheReader reader(types, read, frames, physical, file);
  for (const XarrayEntry& entry : entries) {
    const auto start = static_cast<std::size_t>(entry.index * types.page_size);
    const auto into =
        std::span(cached.bytes)
            .subspan(start, std::min<std::size_t>(types.page_size, file.identity.size - start));
    RINGSIDE_ASSIGN(const bool taken, reader.take(entry, into));
    cached.present[entry.index] = taken;
    if (!taken) std::fill(into.begin(), into.end(), std::byte{0});
  }
  cached.missing =
      static_cast<std::size_t>(std::count(cached.present.begin(), cached.present.end(), false));
  return cached;
}

}  // namespace ringside::guestos
