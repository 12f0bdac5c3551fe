#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/ring/guest_rings.h"
#include "engines/ring/plausible.h"
#include "engines/ring/redox_contexts.h"
#include "memory/page_walk.h"
#include "wire/redox/ring_sample.h"

namespace ringside::engines::ring {

// Where a Redox kernel has its rings (src/profiling.rs of redox-os/kernel @ 663e6641): pointers to
// structures, whose members Rust may order in any way.
struct RedoxLayout {
  GuestVirt place;  // BUFS_RAW, a slice: a pointer to the pointers and a number of CPUs, …
  // … or, until 2026-04, BUFS: an array of so many pointers. CPUs that the machine has not, or that
  // have not begun, have null there.
  std::optional<std::uint64_t> array_size = {};
  // Bytes from a structure's start.
  std::uint64_t buf = 0;  // a pointer to the words
  std::uint64_t tail = 0;
  std::uint64_t nmi_kcount = 0;
  std::uint64_t nmi_ucount = 0;
  std::optional<std::uint64_t> words;    // a member that says how many words there are, …
  std::uint64_t ring_words = 16u << 20;  // … else so many
  std::map<std::uint32_t, std::string> context_names;  // by the ids in samples
  std::optional<RedoxContextTable> contexts;           // where the kernel has the others' names
};

// Rings of Redox' kernel, in format A or B. Their tails only grow, and tell where the newest sample
// ends, whoever drains them meanwhile.
class RedoxRings final : public GuestRings {
 public:
  // Nothing where the kernel has not made the rings yet. `physical` outlives them. Errors: those of
  // the memory; kFormat for a slice or sizes that make no sense.
  [[nodiscard]] static Result<std::unique_ptr<RedoxRings>> find(const RedoxLayout& layout,
                                                                const memory::PageTables& tables,
                                                                PhysicalMemory& physical);

  [[nodiscard]] Arch arch() const override { return Arch::kX86_64; }
  [[nodiscard]] double counter_hz() const override { return 0; }
  void want_all() override;
  [[nodiscard]] Result<void> poll(RecordCollector* records, bool is_last) override;
  [[nodiscard]] Result<bool> are_there() override;
  [[nodiscard]] bool are_same(const GuestRings& other) const override;
  [[nodiscard]] RingCounts counts() const override;
  [[nodiscard]] Result<bool> wants_tables() override;
  [[nodiscard]] Result<void> use_tables(const TablesOfVcpu& tables,
                                        PhysicalMemory& physical) override;

 private:
  static constexpr std::size_t kMostWords = 1 << 18;  // that a poll reads

  struct State {
    std::uint64_t tail = 0;
    std::uint64_t kernel_samples = 0;
    std::uint64_t user_samples = 0;
  };
  struct Ring {
    GuestVirt structure;
    std::unique_ptr<AreaMemory> state;
    std::unique_ptr<AreaMemory> memory;
    std::uint64_t words = 0;
    bool has_begun = false;
    std::uint64_t position = 0;    // words that were read, or are lost
    State first;                   // at the first poll, or of a kernel that has begun anew
    std::uint64_t due_before = 0;  // samples of kernels before
    State last;
    PlausibleGrowth growth;
    std::uint64_t read = 0;     // samples
    std::uint64_t damaged = 0;  // jumps of the counts
    bool is_gone = false;       // the kernel has it no longer, or not yet
  };
  explicit RedoxRings(const RedoxLayout& layout) : layout_(layout) {}

  // Sets pointers_, unless the kernel has not made them.
  [[nodiscard]] Result<void> find_pointers(const memory::PageTables& tables,
                                           PhysicalMemory& physical, std::uint64_t& walks_left);
  [[nodiscard]] Result<std::uint64_t> pointer_of(std::size_t cpu) const;
  [[nodiscard]] static Result<std::optional<Ring>> find_ring(const RedoxLayout& layout,
                                                             GuestVirt structure,
                                                             const memory::PageTables& tables,
                                                             PhysicalMemory& physical,
                                                             std::uint64_t& walks_left);
  [[nodiscard]] Result<State> read_state(Ring& ring) const;
  [[nodiscard]] Result<void> follow(Ring& ring) const;
  [[nodiscard]] Result<void> poll(std::size_t cpu, RecordCollector* records, std::size_t& budget);
  [[nodiscard]] Result<bool> read_words(Ring& ring, std::size_t budget);
  [[nodiscard]] Result<void> take(const wire::redox::RingSample& sample, std::uint16_t cpu,
                                  RecordCollector& records);
  [[nodiscard]] Result<std::string_view> name_of(std::uint32_t context);
  [[nodiscard]] Result<void> without_contexts(Result<void> result);
  // Samples that a ring should have had since the first poll.
  [[nodiscard]] std::uint64_t due(const Ring& ring) const;

  RedoxLayout layout_;
  std::unique_ptr<AreaMemory> slice_;  // null: there is none
  std::unique_ptr<AreaMemory> pointers_;
  std::uint64_t pointers_at_ = 0;
  std::vector<Ring> rings_;                      // of the CPUs
  std::size_t next_ = 0;                         // that the next poll begins with
  std::unique_ptr<RedoxContexts> contexts_;      // null: the kernel has no names of them
  bool has_missed_context_ = false;              // in this poll
  wire::redox::FindPiece find_piece_ = nullptr;  // of the format, once a sample shows it
  // Reused.
  std::vector<std::byte> bytes_;
  wire::redox::RingSample sample_;
  std::vector<std::uint64_t> kernel_;
  std::vector<std::uint64_t> user_;
};

}  // namespace ringside::engines::ring
