#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace ringside::engines::gdb {

using Clock = std::chrono::steady_clock;

// A stream socket that carries packets. Enters: bytes to send. Leaves: the decoded bodies of the
// packets that arrive, in order. Acknowledgements are sent where the stub wants them.
class Connection {
 public:
  explicit Connection(UniqueFd socket);

  [[nodiscard]] int fd() const { return socket_.get(); }
  void set_acknowledging(bool on) { acknowledging_ = on; }
  // For so long receive() asks again and again before it sleeps; it yields its processor in
  // between, because the kernel wakes the stub on the processor of the thread that wrote to it:
  // without the yield the stub waits there until the time is up (150 µs more for each sample,
  // measured).
  void set_spin(std::chrono::microseconds spin) { spin_ = spin; }

  // All of `bytes`, in one write where the socket takes it. The peer's replies are read meanwhile,
  // so that two full buffers cannot block each other.
  [[nodiscard]] Result<void> send(std::string_view bytes, Clock::time_point deadline);
  // How many bytes of the last send() went out.
  [[nodiscard]] std::size_t sent() const { return sent_; }

  // The next packet's body. kTimeout, kClosed, kProtocol (not a packet, or a wrong checksum; the
  // bytes concerned are dropped).
  [[nodiscard]] Result<std::string> receive(Clock::time_point deadline);

  // The same; once `is_over()` is true it waits no longer (kDisturbed). It is asked some ten times
  // a second, and not while answers come at once.
  [[nodiscard]] Result<std::string> receive(Clock::time_point deadline,
                                            const std::function<bool()>& is_over);

  // The next packet's body if it is there already.
  [[nodiscard]] Result<std::optional<std::string>> receive_pending();

  // Waits for the peer's '+' for the last packet. False where something else is there, or nothing
  // comes in time. Errors: kClosed.
  [[nodiscard]] Result<bool> receive_acknowledgement(Clock::time_point deadline);

  // Nothing can be sent or received afterwards.
  void close() { socket_.reset(); }

  // Bytes that have arrived and are not a packet yet, for messages.
  [[nodiscard]] std::string_view unread() const;

 private:
  enum class Wait { kNo, kYes };
  [[nodiscard]] Result<std::optional<std::string>> take_packet();
  [[nodiscard]] Result<bool> fill(Wait wait, Clock::time_point deadline);
  [[nodiscard]] Result<bool> wait_for(short events, Clock::time_point deadline) const;
  [[nodiscard]] Result<std::string> not_a_packet(Clock::time_point deadline);

  UniqueFd socket_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the unread bytes in buffer_[0, end_)
  std::size_t end_ = 0;
  std::size_t sent_ = 0;
  bool acknowledging_ = true;
  std::chrono::microseconds spin_{0};
};

}  // namespace ringside::engines::gdb
