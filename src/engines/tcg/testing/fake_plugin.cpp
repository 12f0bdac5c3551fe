#include "engines/tcg/testing/fake_plugin.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include "wire/record.h"

namespace ringside::engines::tcg::testing {

FakePlugin::FakePlugin(const wire::RingLayout& layout) {
  std::string name = (std::filesystem::temp_directory_path() / "ringside-ring-XXXXXX").string();
  fd_.reset(::mkstemp(name.data()));
  path_ = name;
  if (!fd_.valid() || ::ftruncate(fd_.get(), static_cast<off_t>(layout.bytes())) != 0)
    throw std::runtime_error("cannot make " + name);
  void* const base =
      ::mmap(nullptr, layout.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (base == MAP_FAILED) throw std::runtime_error("cannot map " + name);
  memory_ = {static_cast<std::byte*>(base), layout};
  memory_.begin();
  clock().kind = wire::RecordKind::kCapture;
  header().features = wire::kRingWaits;
  header().arch = static_cast<std::uint32_t>(Arch::kX86_64);
  header().pid = static_cast<std::uint32_t>(::getpid());
  header().api = 4;
  set_lock(F_WRLCK);
  header().magic = wire::kRingMagic;
}

FakePlugin::~FakePlugin() {
  ::munmap(memory_.base(), memory_.layout().bytes());
  std::filesystem::remove(path_);
}

void FakePlugin::set_lock(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_start = wire::kPluginLock;
  lock.l_len = 1;
  if (::fcntl(fd_.get(), F_OFD_SETLK, &lock) != 0)
    throw std::runtime_error("cannot lock " + path_.string());
}

template <class What>
bool FakePlugin::put_any(const What& what) {
  const std::size_t n = what.vcpu.value;
  wire::RingVcpu& state = vcpu(n);
  const std::span<std::byte> all = ring(n);
  const std::size_t bytes = wire::record_bytes(what);
  const std::size_t to_end = all.size() - state.head % all.size();
  const std::size_t needed = bytes <= to_end ? bytes : to_end + bytes;
  const wire::RecordOrigin origin{wire::SourceId::kClock, clock_state(n).sequence++};
  if (needed > all.size() - (state.head - state.tail)) {
    ++clock_state(n).lost;
    return false;
  }
  if (bytes > to_end) {
    wire::write_padding(all.last(to_end));
    state.head += to_end;
  }
  wire::write_record(what, origin, all.subspan(state.head % all.size(), bytes));
  state.head += bytes;
  return true;
}

template bool FakePlugin::put_any(const wire::Capture&);
template bool FakePlugin::put_any(const wire::Event&);

}  // namespace ringside::engines::tcg::testing
