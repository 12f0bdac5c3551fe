#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recording/codec/decode.h"
#include "recording/count_check.h"
#include "recording/id_map.h"
#include "recording/old_samples.h"
#include "recording/reader.h"

namespace ringside::recording {

inline constexpr std::uint64_t kMostBlobBytes = 512 << 20;
inline constexpr std::uint64_t kMostSamples = 0xffffffff;

// Bounds on the contents of a hostile recording: what its reader has to hold, and how long it has
// to read.
struct ReplayLimits {
  // Those of a file of so many bytes. A small file cannot hold large tables: text and read-only
  // data of Debian's 6.1 kernel (20.8 MB) compress to 38 %, by zstd at the writer's level.
  [[nodiscard]] static ReplayLimits of_file(std::uint64_t size) {
    constexpr std::uint64_t kAnyFile = 32 << 20;
    constexpr std::uint64_t kBestCompression = 32;
    ReplayLimits limits;
    limits.blob_bytes = std::min(kMostBlobBytes, kAnyFile + kBestCompression * size);
    // bench/model's recordings take 2 bytes and more for each entry and for each sample.
    limits.entries = (std::uint64_t{1} << 18) + size;
    limits.samples = std::min(kMostSamples, (std::uint64_t{8} << 20) + 64 * size);
    limits.table_bytes = (std::uint64_t{24} << 20) + 256 * size;
    limits.raw_bytes = kMostBlobBytes + limits.table_bytes;
    return limits;
  }

  std::uint64_t blob_bytes = kMostBlobBytes;       // of all blobs together: readers keep them
  std::uint64_t entries = std::uint64_t{1} << 32;  // frames, nodes, contexts and what these have
  std::uint64_t samples = kMostSamples;
  // Bytes of all blocks after decompression, without and with the blobs.
  std::uint64_t table_bytes = std::uint64_t{1} << 50;
  std::uint64_t raw_bytes = std::uint64_t{1} << 50;
  std::uint16_t depth = 512;  // frames of a stack: the unwinder goes no further
};

// Hands the records of one block after the other to a visitor, and keeps the promise of Visitor:
// whatever was lost, an id that arrives there was given before. Contents beyond the limits are left
// out, and the visitor gets a sentence of it.
class Replay {
 public:
  // `major` is the recording's version.
  Replay(Visitor& visitor, const Header& header, std::uint16_t major, ReplayLimits limits = {})
      : visitor_(visitor), limits_(limits), is_old_(major == 1), old_(header) {
    if (is_old_) (void)add(cpu_source(header));
  }
  // `decoded` are the first sample batches of the payload. Throws protozero::exception where the
  // payload is no message; what stood before it was handed on.
  void block(std::string_view payload, std::span<SampleBatch> decoded = {});
  // False: blocks are beyond the limits, whatever they hold.
  [[nodiscard]] bool takes_blocks() const { return !said_raw_; }
  // A figure of the recording that cannot be true, in words; empty if there is none.
  [[nodiscard]] std::string contradiction() const { return counts_.contradiction(); }

 private:
  friend class OldSamples;

  void record(protozero::pbf_reader& records);
  // They take the kinds that only one version has. False if this is another kind.
  [[nodiscard]] bool old_record(protozero::pbf_reader& records);
  [[nodiscard]] bool new_record(protozero::pbf_reader& records);
  void frames(protozero::pbf_reader message);
  void stack_nodes(protozero::pbf_reader message);
  void all_texts(std::string_view payload);
  void texts(protozero::pbf_reader message);
  void threads(protozero::pbf_reader message);
  void stack_lists(protozero::pbf_reader message);
  void contexts(protozero::pbf_reader message);
  void sample_batch(protozero::pbf_reader message);
  [[nodiscard]] SampleBatch& decoded_batch(protozero::pbf_reader message);
  void event_type(protozero::pbf_reader message);
  void event_batch(protozero::pbf_reader message);
  void counter_set(protozero::pbf_reader message);
  void counter_batch(protozero::pbf_reader message);
  void blob_piece(const BlobPiece& piece);
  void statistics(const Statistics& statistics);

  // Each gives the visitor an entry, and returns its id.
  std::uint32_t add(const Thread& thread);
  std::uint32_t add(const StackList& list);
  std::uint32_t add(const Context& context);
  // Gives the visitor a source whose id is a new one. False where there are too many, or the id
  // is 0.
  bool add(const Source& source);
  void add(const SampleBatch& batch);
  // The contexts of a batch by the ids that the visitor has.
  void resolve_contexts(std::vector<std::uint32_t>& ids);
  // Counts rows. False where no more may be handed on.
  [[nodiscard]] bool may_add_rows(std::size_t rows);
  // For what is lost: the list of stacks of a context, and the context of samples.
  std::uint32_t lost_stacks();
  std::uint32_t lost_context();

  [[nodiscard]] std::uint32_t known_image(std::uint32_t id) const {
    return images_.count(id) != 0 ? id : 0;
  }
  [[nodiscard]] std::uint32_t known_mapping(std::uint32_t id) const {
    return mappings_.count(id) != 0 ? id : 0;
  }
  [[nodiscard]] std::uint32_t text_or_zero(std::uint32_t id) const {
    return text_ids_.find(id).value_or(0);
  }
  // False where no more entries may be held.
  [[nodiscard]] bool may_add_entry(std::uint64_t size = 1);
  [[nodiscard]] bool is_full() const { return said_entries_; }
  void resolve(StackRef& ref) const;
  void leave_out_once(bool& said, std::string_view text);
  // Events or counters whose type or set is not there.
  void leave_out_undescribed();

  Visitor& visitor_;
  ReplayLimits limits_;
  bool is_old_;
  OldSamples old_;
  IdMap frame_ids_;
  IdMap node_ids_;
  IdMap text_ids_;
  IdMap thread_ids_;
  IdMap list_ids_;
  IdMap context_ids_;
  // The ids that the next ones get.
  std::uint32_t next_frame_ = 1;
  std::uint32_t next_node_ = 1;
  std::uint32_t next_text_ = 1;
  std::uint32_t next_thread_ = 1;
  std::uint32_t next_list_ = 1;
  std::uint32_t next_context_ = 1;
  // 0: none was needed yet.
  std::uint32_t lost_stacks_ = 0;
  std::uint32_t lost_context_ = 0;
  std::set<std::uint32_t> images_;
  std::set<std::uint32_t> mappings_;
  std::set<std::uint32_t> sources_;
  std::map<std::uint32_t, EventType> event_types_;
  std::map<std::uint32_t, CounterSet> counter_sets_;
  std::set<std::uint32_t> marks_;
  std::set<std::uint32_t> snapshots_;
  std::span<SampleBatch> decoded_;  // the next sample batches of the block at hand
  SampleBatch batch_;               // reused
  std::optional<BlobPiece> blob_;   // that is being put together in blob_content_
  std::string blob_content_;
  std::uint64_t blob_bytes_ = 0;               // of all blobs that were handed on
  std::vector<std::uint16_t> node_depths_{0};  // by dense id: frames from the root
  std::vector<std::uint8_t> list_sizes_{0};    // by dense id
  CountCheck counts_;
  std::uint64_t entries_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t raw_bytes_ = 0;
  std::uint64_t blob_raw_bytes_ = 0;  // of these
  bool said_deep_ = false;
  bool said_large_ = false;
  bool said_entries_ = false;
  bool said_samples_ = false;
  bool said_raw_ = false;
  bool said_unknown_ = false;
  bool said_undescribed_ = false;
  bool said_sources_ = false;
};

}  // namespace ringside::recording
