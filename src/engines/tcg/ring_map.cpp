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

Result<wire::RingLayout> check_header(const wire::RingHeader& header, std::uint64_t file_bytes,
                                      const std::filesystem::path& path) {
  const std::uint64_t magic = header.magic.load(std::memory_order_acquire);
  if (magic != wire::kRingMagic) {
    return fail(magic == 0 ? ErrorCode::kNotFound : ErrorCode::kFormat,
                "{}: not a ring of ringside's TCG plugin", path.string());
  }
  if (header.version != wire::kRingVersion)
    return fail(ErrorCode::kFormat,
                "{}: a ring of version {}, and this ringside knows version {}; use the plugin that "
                "came with it",
                path.string(), header.version, wire::kRingVersion);
  const wire::RingLayout layout{header.vcpus, header.ring_bytes};
  const bool sane = header.vcpus > 0 && header.vcpus <= kMostVcpus &&
                    std::has_single_bit(header.ring_bytes) &&
                    header.ring_bytes >= wire::kRingPage && layout.bytes() == file_bytes &&
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
  return RingMap(std::move(fd), path.string(), static_cast<std::byte*>(base), *layout);
}

RingMap::RingMap(UniqueFd fd, std::string name, std::byte* base, wire::RingLayout layout)
    : fd_(std::move(fd)), name_(std::move(name)), base_(base), layout_(layout) {
  // Samples that an earlier reader has left are not ours.
  for (std::size_t n = 0; n < layout_.vcpus; ++n)
    read_.push_back(vcpu(n).head.load(std::memory_order_acquire));
  release();
}

RingMap::RingMap(RingMap&& other) noexcept
    : fd_(std::move(other.fd_)),
      name_(std::move(other.name_)),
      base_(std::exchange(other.base_, nullptr)),
      layout_(other.layout_),
      read_(std::move(other.read_)) {}

RingMap::~RingMap() {
  if (base_ == nullptr) return;
  forget_mapping(base_);
  ::munmap(base_, layout_.bytes());
}

Result<bool> RingMap::next(std::size_t n, wire::Capture& capture) {
  while (true) {
    const std::uint64_t head = vcpu(n).head.load(std::memory_order_acquire);
    const std::uint64_t at = read_[n];
    if (at == head) return false;
    const std::size_t offset = at % layout_.ring_bytes;
    const std::size_t available = std::min<std::uint64_t>(head - at, layout_.ring_bytes - offset);
    const auto record =
        head - at > layout_.ring_bytes
            ? std::nullopt
            : wire::read_record({base_ + layout_.ring(n) + offset, available}, capture);
    if (!record || (!record->is_padding && capture.vcpu.value != n))
      return fail(ErrorCode::kFormat, "{}: the ring of vCPU {} is damaged at byte {}", name_, n,
                  at);
    read_[n] = at + record->bytes;
    if (!record->is_padding) return true;
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
  for (std::size_t n = 0; n < layout_.vcpus; ++n)
    vcpu(n).tail.store(read_[n], std::memory_order_release);
}

void RingMap::ring_doorbell() const {
  header().doorbell.fetch_add(1, std::memory_order_release);
  wire::futex_wake(header().doorbell);
}

}  // namespace ringside::engines::tcg
