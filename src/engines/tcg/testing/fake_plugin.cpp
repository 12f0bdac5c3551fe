#include "engines/tcg/testing/fake_plugin.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "wire/record.h"

namespace ringside::engines::tcg::testing {

FakePlugin::FakePlugin(unsigned vcpus, std::uint32_t ring_bytes) : layout_{vcpus, ring_bytes} {
  std::string name = (std::filesystem::temp_directory_path() / "ringside-ring-XXXXXX").string();
  fd_.reset(::mkstemp(name.data()));
  path_ = name;
  if (!fd_.valid() || ::ftruncate(fd_.get(), static_cast<off_t>(layout_.bytes())) != 0)
    throw std::runtime_error("cannot make " + name);
  void* const base =
      ::mmap(nullptr, layout_.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (base == MAP_FAILED) throw std::runtime_error("cannot map " + name);
  base_ = static_cast<std::byte*>(base);
  new (base_) wire::RingHeader;
  for (unsigned n = 0; n < vcpus; ++n) new (base_ + layout_.vcpu(n)) wire::RingVcpu;
  header().version = wire::kRingVersion;
  header().arch = static_cast<std::uint32_t>(Arch::kX86_64);
  header().vcpus = vcpus;
  header().ring_bytes = ring_bytes;
  header().pid = static_cast<std::uint32_t>(::getpid());
  header().api = 4;
  set_lock(F_WRLCK);
  header().magic = wire::kRingMagic;
}

FakePlugin::~FakePlugin() {
  ::munmap(base_, layout_.bytes());
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

bool FakePlugin::put(const wire::Capture& capture) {
  wire::RingVcpu& state = vcpu(capture.vcpu.value);
  const std::span<std::byte> all = ring(capture.vcpu.value);
  const std::size_t bytes = wire::record_bytes(capture);
  const std::size_t to_end = all.size() - state.head % all.size();
  const std::size_t needed = bytes <= to_end ? bytes : to_end + bytes;
  if (needed > all.size() - (state.head - state.tail)) return false;
  if (bytes > to_end) {
    wire::write_padding(all.last(to_end));
    state.head += to_end;
  }
  wire::write_record(capture, all.subspan(state.head % all.size(), bytes));
  state.head += bytes;
  return true;
}

}  // namespace ringside::engines::tcg::testing
