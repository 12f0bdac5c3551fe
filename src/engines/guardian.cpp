#include "engines/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace ringside::engines {

struct Guardian::Shared {
  std::atomic<int> state;
  std::atomic<std::size_t> detach_text_size;
  char detach_text[64];
  std::atomic<bool> restores_scheduling;
  Scheduling scheduling;
};
static_assert(std::atomic<int>::is_always_lock_free);

namespace {

constexpr int kStartTimeoutMs = 10'000;  // of a host that is overloaded
constexpr int kFirstFree = 5;            // 0 to 2: /dev/null, 3: link, 4: socket

// Puts the two descriptors at 3 (link) and 4 (socket), /dev/null at 0 to 2, and closes all others.
void keep_only(int link, int socket) {
  const int high_link = ::fcntl(link, F_DUPFD, 16);
  const int high_socket = ::fcntl(socket, F_DUPFD, 16);
  ::dup2(high_link, 3);
  ::dup2(high_socket, 4);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  ::close_range(kFirstFree, ~0u, 0);
}

// Whether the guardian has said that it stands.
bool is_ready(int link) {
  pollfd poll_fd{link, POLLIN, 0};
  int ready;
  do {
    ready = ::poll(&poll_fd, 1, kStartTimeoutMs);
  } while (ready < 0 && errno == EINTR);
  char byte = 0;
  return ready > 0 && ::recv(link, &byte, 1, MSG_DONTWAIT) == 1;
}

void wait_for_end_of(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

void Guardian::watch(Shared* shared, const DetachSequence& detach_sequence, int socket, int link) {
  ::setsid();
  ::prctl(PR_SET_NAME, "ringside-guard");
  keep_only(link, socket);
  if (::chdir("/") != 0) ::_exit(1);
  char goodbye = 0;
  // A parent that is gone already shows below, as the link's end.
  (void)::send(3, &goodbye, 1, MSG_NOSIGNAL);
  ssize_t got;
  do {
    got = ::read(3, &goodbye, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0 && detach_sequence.needed(static_cast<GuestState>(shared->state.load()), 4))
    detach_sequence.say(4, {shared->detach_text, shared->detach_text_size.load()});
  if (got == 0 && shared->restores_scheduling) restore_scheduling(shared->scheduling);
  ::_exit(0);
}

Result<std::unique_ptr<Guardian>> Guardian::start(int socket,
                                                  const DetachSequence& detach_sequence) {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail_errno("shared memory for the guardian process");
  auto* shared = new (memory) Shared{};
  shared->detach_text_size =
      detach_sequence.detach_text.copy(shared->detach_text, sizeof(shared->detach_text));
  // A pair of sockets and not a pipe, so that a goodbye to a guardian that was killed raises no
  // SIGPIPE.
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    const int error = errno;
    ::munmap(memory, sizeof(Shared));
    return fail_errno("socket pair for the guardian process", error);
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  // The guardian inherits the blocked signals: nothing but SIGKILL ends it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int error = errno;
  if (pid == 0) watch(shared, detach_sequence, socket, read_end.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    ::munmap(memory, sizeof(Shared));
    return fail_errno("cannot start the guardian process", error);
  }
  read_end.reset();
  if (!is_ready(write_end.get())) {
    ::kill(pid, SIGKILL);
    wait_for_end_of(pid);
    ::munmap(memory, sizeof(Shared));
    return fail(ErrorCode::kTimeout,
                "the guardian process does not start: is the host overloaded?");
  }
  return std::unique_ptr<Guardian>(new Guardian(shared, std::move(write_end), pid));
}

Guardian::~Guardian() {
  if (link_.valid()) {
    const char goodbye = 'q';
    (void)::send(link_.get(), &goodbye, 1, MSG_NOSIGNAL);
    wait_for_end_of(pid_);
  }
  ::munmap(shared_, sizeof(Shared));
}

void Guardian::abandon() { link_.reset(); }

void Guardian::set_state(GuestState state) { shared_->state.store(static_cast<int>(state)); }

GuestState Guardian::state() const { return static_cast<GuestState>(shared_->state.load()); }

void Guardian::restore_on_death(const std::optional<Scheduling>& before) {
  shared_->restores_scheduling = false;
  if (!before) return;
  shared_->scheduling = *before;
  shared_->restores_scheduling = true;
}

void Guardian::set_detach_text(std::string_view bytes) {
  // Empty in between, so that the guardian never sends half of two.
  shared_->detach_text_size.store(0);
  const std::size_t size = std::min(bytes.size(), sizeof(shared_->detach_text));
  std::memcpy(shared_->detach_text, bytes.data(), size);
  shared_->detach_text_size.store(size);
}

}  // namespace ringside::engines
