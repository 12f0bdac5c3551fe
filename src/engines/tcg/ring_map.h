#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "base/fd.h"
#include "base/result.h"
#include "wire/capture.h"
#include "wire/ring.h"

namespace ringside::engines::tcg {

// ringside's side of the memory that the TCG plugin shares: maps the plugin's file and takes
// records out of its rings. Holds a lock on the file, so that the plugin knows that somebody reads.
class RingMap {
 public:
  // Errors: kNotFound where the file is not there or not complete yet, kFormat for anything that is
  // no ring of this version, kUsage where another ringside reads it.
  [[nodiscard]] static Result<RingMap> open(const std::filesystem::path& path);
  RingMap(RingMap&& other) noexcept;
  RingMap& operator=(RingMap&&) = delete;
  ~RingMap();

  [[nodiscard]] wire::RingHeader& header() const {
    return *reinterpret_cast<wire::RingHeader*>(base_);
  }
  [[nodiscard]] wire::RingVcpu& vcpu(std::size_t n) const {
    return *reinterpret_cast<wire::RingVcpu*>(base_ + layout_.vcpu(n));
  }
  [[nodiscard]] std::size_t vcpus() const { return layout_.vcpus; }
  [[nodiscard]] std::span<const std::byte> mailbox() const {
    return {base_ + layout_.mailbox(), wire::kMailboxBytes};
  }

  // The next capture of a vCPU; false where there is none. Its place is not free before release().
  // Error kFormat: the ring is damaged.
  [[nodiscard]] Result<bool> next(std::size_t vcpu, wire::Capture& capture);
  // Gives the places of all captures that next() has returned back to the plugin.
  void release();
  void ring_doorbell() const;
  // False once QEMU has ended, however.
  [[nodiscard]] bool plugin_is_there() const;

 private:
  RingMap(UniqueFd fd, std::string name, std::byte* base, wire::RingLayout layout);

  UniqueFd fd_;
  std::string name_;
  std::byte* base_;
  wire::RingLayout layout_;
  std::vector<std::uint64_t> read_;  // per vCPU, up to where next() has come
};

}  // namespace ringside::engines::tcg
