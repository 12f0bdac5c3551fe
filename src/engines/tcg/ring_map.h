#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "wire/capture.h"
#include "wire/record.h"
#include "wire/ring_memory.h"

namespace ringside::engines::tcg {

// ringside's side of the memory that the TCG plugin shares: maps the plugin's file and takes
// records out of its rings. Holds a lock on the file, so that the plugin knows that somebody reads.
class RingMap {
 public:
  // Errors: kNotFound where the file is not there or not complete yet, kFormat for anything that is
  // no ring that both sides understand, kUsage where another ringside reads it.
  [[nodiscard]] static Result<RingMap> open(const std::filesystem::path& path);
  RingMap(RingMap&& other) noexcept;
  RingMap& operator=(RingMap&&) = delete;
  ~RingMap();

  [[nodiscard]] wire::RingHeader& header() const { return memory_.header(); }
  [[nodiscard]] wire::RingVcpu& vcpu(std::size_t n) const { return memory_.vcpu(n); }
  [[nodiscard]] wire::RingSource& source(wire::SourceId id) const { return memory_.source(id); }
  [[nodiscard]] std::uint64_t counter(std::size_t vcpu, wire::RingCounter which) const {
    return memory_.counter(vcpu, which).load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t vcpus() const { return memory_.layout().vcpus; }
  [[nodiscard]] std::span<const std::byte> mailbox() const { return memory_.mailbox(); }

  // The next record of a vCPU that is no padding; nothing where there is none. A capture goes into
  // `capture`. Its place is not free before release(). Error kFormat: the ring is damaged.
  [[nodiscard]] Result<std::optional<wire::Record>> next(std::size_t vcpu, wire::Capture& capture);
  // Gives the places of all records that next() has returned back to the plugin, and wakes vCPUs
  // that wait for that.
  void release();
  void ring_doorbell() const;
  // False once QEMU has ended, however.
  [[nodiscard]] bool plugin_is_there() const;

 private:
  // How far a source's records of one vCPU are read.
  struct Read {
    wire::RecordKind kind{};            // of its records
    std::optional<std::uint32_t> next;  // sequence; nothing before the first record
    std::uint64_t missing = 0;          // records whose sequence was passed over
    std::uint64_t lost_before = 0;      // before this reader came
  };

  RingMap(UniqueFd fd, std::string name, const wire::RingMemory& memory);
  [[nodiscard]] bool follows(std::size_t vcpu, const wire::Record& record);

  UniqueFd fd_;
  std::string name_;
  wire::RingMemory memory_;
  std::vector<std::uint64_t> read_;         // per vCPU, up to where next() has come
  std::vector<std::vector<Read>> sources_;  // per vCPU and source
};

}  // namespace ringside::engines::tcg
