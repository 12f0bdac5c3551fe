#include "engines/tcg/ring_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <utility>

#include "base/shrunk_files.h"
#include "wire/futex.h"
#include "wire/record.h"

namespace ringside::engines::tcg {
namespace {

constexpr std::uint32_t kMostVcpus = 4096;
constexpr std::uint32_t kMostSources = 4096;
constexpr std::uint32_t kMostCounters = 1u << 20;

Result<void> lock(int fd, const std::filesystem::path& path) {
  struct flock request {};
  request.l_type = F_WRLCK;
  request.l_start = wire::kReaderLock;
  request.l_len = 1;
  if (::fcntl(fd, F_OFD_SETLK, &request) == 0) return {};
  if (errno == EAGAIN || errno == EACCES)
    return fail(ErrorCode::kUsage, "another ringside samples through {}", path.string());
  return fail_errno("cannot lock " + path.string());
}

Result<void> check_version(const wire::RingHeader& header, const std::filesystem::path& path) {
  if (header.version != wire::kRingVersion) {
    return fail(ErrorCode::kFormat,
                "{}: the plugin writes version {} of the ring, and this ringside reads version {}; "
                "use a ringside and a plugin of the same release",
                path.string(), header.version, wire::kRingVersion);
  }
  if (header.sizes != wire::kRingSizes) {
    const wire::RingSizes& sizes = header.sizes;
    return fail(ErrorCode::kFormat,
                "{}: the plugin's parts of the ring have {}, {}, {} and {} bytes, and this "
                "ringside's {}, {}, {} and {}; use a ringside and a plugin of the same release",
                path.string(), sizes.header, sizes.vcpu, sizes.source, sizes.source_state,
                wire::kRingSizes.header, wire::kRingSizes.vcpu, wire::kRingSizes.source,
                wire::kRingSizes.source_state);
  }
  if (const std::uint32_t unknown = header.demands & ~wire::kKnownDemands) {
    return fail(ErrorCode::kFormat,
                "{}: the plugin demands features that this ringside does not have (bits {:#x}); "
                "use the ringside that came with the plugin",
                path.string(), unknown);
  }
  return {};
}

Result<wire::RingLayout> check_header(const wire::RingHeader& header, std::uint64_t file_bytes,
                                      const std::filesystem::path& path) {
  const std::uint64_t magic = header.magic.load(std::memory_order_acquire);
  if (magic != wire::kRingMagic) {
    return fail(magic == 0 ? ErrorCode::kNotFound : ErrorCode::kFormat,
                "{}: not a ring of ringside's TCG plugin", path.string());
  }
  RINGSIDE_TRY(check_version(header, path));
  const wire::RingLayout layout{header.vcpus, header.ring_bytes, header.sources, header.counters};
  // The copy is judged: another process may write the header.
  const bool sane = layout.vcpus > 0 && layout.vcpus <= kMostVcpus &&
                    std::has_single_bit(layout.ring_bytes) &&
                    layout.ring_bytes >= wire::kRingPage && layout.sources >= wire::kUsualSources &&
                    layout.sources <= kMostSources && layout.counters >= wire::kUsualCounters &&
                    layout.counters <= kMostCounters && layout.bytes() == file_bytes &&
                    header.arch <= static_cast<std::uint32_t>(kLastArch);
  if (!sane) return fail(ErrorCode::kFormat, "{}: a ring with a damaged header", path.string());
  return layout;
}

}  // namespace

Result<RingMap> RingMap::open(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("cannot open " + path.string());
  struct stat file {};
  if (::fstat(fd.get(), &file) != 0) return fail_errno("cannot read " + path.string());
  const auto bytes = static_cast<std::uint64_t>(file.st_size);
  if (bytes < sizeof(wire::RingHeader))
    return fail(ErrorCode::kNotFound, "{}: not complete yet", path.string());
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return fail_errno("cannot map " + path.string());
  if (!watch_mapping(base, bytes, path.string(), MappedFor::kWriting)) {
    ::munmap(base, bytes);
    return fail(ErrorCode::kIo, "{}: too many files are mapped", path.string());
  }
  auto layout = check_header(*static_cast<const wire::RingHeader*>(base), bytes, path);
  auto ok = layout ? lock(fd.get(), path) : Result<void>(tl::unexpected<Error>(layout.error()));
  if (!ok) {
    forget_mapping(base);
    ::munmap(base, bytes);
    return tl::unexpected<Error>(ok.error());
  }
  return RingMap(std::move(fd), path.string(), {static_cast<std::byte*>(base), *layout});
}

RingMap::RingMap(UniqueFd fd, std::string name, const wire::RingMemory& memory)
    : fd_(std::move(fd)), name_(std::move(name)), memory_(memory) {
  const wire::RingLayout& layout = memory_.layout();
  // Samples that an earlier reader has left are not ours.
  for (std::size_t n = 0; n < layout.vcpus; ++n) {
    std::vector<Read>& sources = sources_.emplace_back(layout.sources);
    for (std::size_t of = 0; of < layout.sources; ++of) {
      const auto id = static_cast<wire::SourceId>(of);
      sources[of].kind = source(id).kind;
      sources[of].lost_before = memory_.state(n, id).lost.load(std::memory_order_relaxed);
    }
    read_.push_back(vcpu(n).head.load(std::memory_order_acquire));
  }
  release();
}

RingMap::RingMap(RingMap&& other) noexcept
    : fd_(std::move(other.fd_)),
      name_(std::move(other.name_)),
      memory_(std::exchange(other.memory_, {})),
      read_(std::move(other.read_)),
      sources_(std::move(other.sources_)) {}

RingMap::~RingMap() {
  if (memory_.base() == nullptr) return;
  forget_mapping(memory_.base());
  ::munmap(memory_.base(), memory_.layout().bytes());
}

// Whether it is of a source that is there, and in order; what is missing was counted as lost.
bool RingMap::follows(std::size_t n, const wire::Record& record) {
  const auto of = static_cast<std::size_t>(record.origin.source);
  if (record.vcpu.value != n || of >= sources_[n].size()) return false;
  Read& read = sources_[n][of];
  if (record.kind != read.kind) return false;
  const std::uint32_t sequence = record.origin.sequence;
  if (read.next) read.missing += sequence - *read.next;  // of 32 bits: one behind is very many
  read.next = sequence + 1;
  const std::uint64_t lost =
      memory_.state(n, record.origin.source).lost.load(std::memory_order_relaxed);
  return read.missing <= lost - read.lost_before;
}

Result<std::optional<wire::Record>> RingMap::next(std::size_t n, wire::Capture& capture) {
  const std::span<const std::byte> ring = memory_.ring(n);
  while (true) {
    const std::uint64_t head = vcpu(n).head.load(std::memory_order_acquire);
    const std::uint64_t at = read_[n];
    if (at == head) return std::optional<wire::Record>();
    const std::size_t offset = at % ring.size();
    const std::size_t available = std::min<std::uint64_t>(head - at, ring.size() - offset);
    const auto record = head - at > ring.size()
                            ? std::nullopt
                            : wire::read_record(ring.subspan(offset, available), capture);
    if (!record || (!record->is_padding() && !follows(n, *record)))
      return fail(ErrorCode::kFormat, "{}: the ring of vCPU {} is damaged at byte {}", name_, n,
                  at);
    read_[n] = at + record->bytes;
    if (!record->is_padding()) return record;
  }
}

bool RingMap::plugin_is_there() const {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = wire::kPluginLock;
  lock.l_len = 1;
  return ::fcntl(fd_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void RingMap::release() {
  for (std::size_t n = 0; n < read_.size(); ++n)
    vcpu(n).tail.store(read_[n], std::memory_order_release);
  // A vCPU counts itself as waiting before it looks at the tail.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (header().waiting.load() != 0) ring_doorbell();
}

void RingMap::ring_doorbell() const {
  header().doorbell.fetch_add(1);
  wire::futex_wake(header().doorbell);
}

}  // namespace ringside::engines::tcg
