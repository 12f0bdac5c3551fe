#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_reader.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "recording/records.h"

namespace ringside::recording {

// The contents of a recording, in the order in which they were written. An image, mapping, frame or
// stack node comes before what refers to it, and so do texts, threads, stack lists, contexts and
// sources; ids of those that are given by id are dense, from 1, in the order of the calls. An id
// that a record names is one that was given before, or 0, or kLostStack; the context and the source
// of a sample are not 0.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void image(const ImageInfo&) {}
  virtual void mapping(const Mapping&) {}
  virtual void function(const ImageFunction&) {}
  virtual void frame(std::uint32_t /*id*/, const RecordedFrame&) {}
  virtual void stack_node(std::uint32_t /*id*/, const StackNode&) {}
  virtual void clock(const Clock&) {}
  virtual void clock_tie(const ClockTie&) {}
  virtual void source(const Source&) {}
  virtual void text(std::uint32_t /*id*/, std::string_view) {}
  virtual void thread(std::uint32_t /*id*/, const Thread&) {}
  virtual void stack_list(std::uint32_t /*id*/, const StackList&) {}
  virtual void context(std::uint32_t /*id*/, const Context&) {}
  // Their types, sets, marks and snapshots come before; an event has a context, and a column for
  // each field of its type; a counter a column for each part of its set's key.
  virtual void event_type(const EventType&) {}
  virtual void snapshot(const Snapshot&) {}
  virtual void events(const EventBatch&) {}
  virtual void counter_set(const CounterSet&) {}
  virtual void mark(const Mark&) {}
  virtual void counters(const CounterBatch&) {}
  // Batches of one source are in the order of time in which they were written; those of several are
  // not. sample_visitor.h gives samples one by one.
  virtual void sample_batch(const SampleBatch&) {}
  // The machine state that the sample of the same time and vCPU was unwound from, which came before
  // it; host_time_ns counts from Header::start_monotonic_ns.
  virtual void capture(const wire::Capture&) {}
  virtual void epoch(const GuestEpoch&) {}
  virtual void thread_name(const ThreadName&) {}
  virtual void blob(const Blob&) {}
  virtual void warning(std::string_view /*text*/) {}
  // A sentence about contents beyond a reader's bounds, which are not handed on.
  virtual void left_out(std::string_view /*text*/) {}
  virtual void statistics(const Statistics&) {}
};

// Reads a recording, also one that its writer could not finish or that was damaged: a damaged block
// is left out and reported, everything in whole blocks is read.
class Reader {
 public:
  // Errors name the file and say what to do: not a recording, of a newer major version, empty, cut
  // before the first whole block.
  [[nodiscard]] static Result<Reader> open(const std::filesystem::path& path);
  // `bytes` must outlive the reader; `name` stands in messages.
  [[nodiscard]] static Result<Reader> open(Bytes bytes, std::string name);

  [[nodiscard]] const Header& header() const { return header_; }
  // Bytes of the file.
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  // Offset behind the block that ends the recording, else behind its last whole block.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  // May be called again; every call starts from the beginning. After an error nothing that was
  // handed on is to be used: kFormat, where the recording's figures contradict its samples;
  // kTruncated, where the file has become shorter since it was opened.
  [[nodiscard]] Result<void> for_each(Visitor& visitor);

  // These are known after open().
  // The writer reached finish() and no block is missing.
  [[nodiscard]] bool complete() const { return finished_ && damage_count_ == 0; }
  // As it was opened: a path, in most cases.
  [[nodiscard]] const std::string& name() const { return name_; }
  // The missing and damaged parts, in words with offsets; empty if there are none. A recording that
  // only lacks its end says that.
  [[nodiscard]] std::string damage() const;
  // Blocks that are missing or damaged, as far as it can be known.
  [[nodiscard]] std::uint64_t lost_blocks() const { return lost_blocks_; }

 private:
  Reader() = default;
  // Finds the whole blocks and what is missing between them.
  [[nodiscard]] Result<void> scan();
  void read_header(std::size_t offset, std::string_view missing);
  void report_damage(std::size_t offset, std::string_view what);

  [[nodiscard]] bool has_shrunk() const;

  std::shared_ptr<const MappedFile> file_;
  UniqueFd fd_;  // of a file
  Bytes bytes_;
  std::string name_;
  std::uint16_t major_ = 0;
  Header header_;
  std::vector<std::size_t> blocks_;  // offsets of those of records
  std::vector<std::string> damage_;  // the first few
  std::uint64_t damage_count_ = 0;
  std::uint64_t lost_blocks_ = 0;
  std::uint64_t end_ = 0;
  bool finished_ = false;
};

}  // namespace ringside::recording
