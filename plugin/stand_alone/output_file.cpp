#include "plugin/stand_alone/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "wire/record.h"

namespace ringside::plugin {
namespace {

// A sample that stands for more ticks is written as often: Maestro's layout has no weights. Beyond
// this the file would be one sample.
constexpr std::uint64_t kMostCopies = 1000;

bool refuse(const char* what, const std::string& path, const char* why) {
  std::fprintf(stderr, "ringside: cannot %s %s: %s\n", what, path.c_str(), why);
  return false;
}

}  // namespace

bool OutputFile::open(const std::string& path, OutFormat format,
                      const wire::SampleFileHeader& header) {
  path_ = path;
  format_ = format;
  // A guest's activity is nobody else's business, and a link leads where somebody else wants.
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd_ < 0)
    return refuse("write", path, errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return refuse("write", path, std::strerror(errno));
  if (S_ISREG(info.st_mode) && info.st_uid != ::geteuid())
    return refuse("write", path, "it belongs to another user");
  if (S_ISREG(info.st_mode)) ::fchmod(fd_, 0600);
  // Only then is what it holds thrown away. Pipes have no locks.
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return refuse("write", path, "another QEMU, or another plugin of this one, writes it");
  if (::ftruncate(fd_, 0) != 0 && errno != EINVAL)
    return refuse("empty", path, std::strerror(errno));
  if (format == OutFormat::kMaestro) return true;
  const auto bytes = std::as_bytes(std::span(&header, 1));
  gathered_.assign(bytes.begin(), bytes.end());
  return flush();
}

void OutputFile::add_record(Bytes record) {
  if (format_ == OutFormat::kMaestro)
    add_addresses(record);
  else
    gathered_.insert(gathered_.end(), record.begin(), record.end());
}

// maestro-os/kern-profile @ 32f201e4: a byte says how many, then 64-bit addresses, leaf first.
void OutputFile::add_addresses(Bytes bytes) {
  wire::Capture unused;
  const auto event = wire::read_record(bytes, unused);
  if (!event || event->kind != wire::RecordKind::kEvent || event->values() < 2) return;
  const Bytes addresses = event->body.subspan(sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < std::min(event->value(0), kMostCopies); ++i) {
    gathered_.push_back(static_cast<std::byte>(event->values() - 1));
    gathered_.insert(gathered_.end(), addresses.begin(), addresses.end());
  }
}

void OutputFile::add_counts(const wire::VcpuCounts& counts) {
  if (format_ == OutFormat::kMaestro) return;
  const std::size_t at = gathered_.size();
  gathered_.resize(at + wire::kCountsRecordBytes);
  wire::write_counts_record(counts, std::span(gathered_).subspan(at));
}

bool OutputFile::flush() {
  Bytes rest(gathered_);
  while (!rest.empty() && !failed_) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written > 0) {
      rest = rest.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      failed_ = true;
      (void)refuse("go on writing", path_, std::strerror(errno));
    }
  }
  gathered_.clear();
  return !failed_;
}

}  // namespace ringside::plugin
