#include "engines/ring/redox_rings.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/clock.h"
#include "base/little_endian.h"
#include "engines/ring/mapped_area.h"

namespace ringside::engines::ring {
namespace {

using namespace wire::redox;

constexpr std::uint64_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kMostCpus = 4096;
constexpr std::uint64_t kMostRingWords = 1u << 28;
constexpr std::uint64_t kMostOffset = 4096;
constexpr std::uint64_t kMostWalks = 1 << 21;  // pages of all rings together

// Their memory cannot be read, or they are not as they should be.
bool is_of_names(const Error& error) {
  return error.code == ErrorCode::kUnreadable || error.code == ErrorCode::kFormat;
}

// The first words may be the end of a sample.
FindPiece format_of(const RingWords& words) {
  for (std::size_t at = 0; at < std::min(words.size(), wire::redox::kMostWords); ++at)
    if (begins_sample_b(words[at])) return find_piece_b;
  return find_piece_a;
}

}  // namespace

Result<std::unique_ptr<RedoxRings>> RedoxRings::find(const RedoxLayout& layout,
                                                     const memory::PageTables& tables,
                                                     PhysicalMemory& physical) {
  std::unique_ptr<RedoxRings> rings(new RedoxRings(layout));
  std::uint64_t walks_left = kMostWalks;
  RINGSIDE_TRY(rings->find_pointers(tables, physical, walks_left));
  if (!rings->pointers_) return nullptr;
  bool has_one = false;
  for (std::size_t cpu = 0; cpu < rings->rings_.size(); ++cpu) {
    RINGSIDE_ASSIGN(const std::uint64_t structure, rings->pointer_of(cpu));
    if (structure == 0 && layout.array_size) {
      rings->rings_[cpu].is_gone = true;
      continue;
    }
    if (structure == 0) return nullptr;  // that CPU has not begun
    RINGSIDE_ASSIGN(auto ring,
                    find_ring(layout, GuestVirt{structure}, tables, physical, walks_left));
    if (!ring) return nullptr;
    rings->rings_[cpu] = std::move(*ring);
    has_one = true;
  }
  if (layout.contexts) {
    auto contexts = RedoxContexts::find(*layout.contexts, tables, physical);
    if (contexts) rings->contexts_ = std::move(*contexts);
    if (!contexts && !is_of_names(contexts.error())) return tl::unexpected<Error>(contexts.error());
  }
  return has_one ? std::move(rings) : nullptr;
}

Result<void> RedoxRings::find_pointers(const memory::PageTables& tables, PhysicalMemory& physical,
                                       std::uint64_t& walks_left) {
  std::uint64_t cpus = layout_.array_size.value_or(0);
  pointers_at_ = layout_.place.value;
  if (!layout_.array_size) {
    RINGSIDE_ASSIGN(slice_, map_area(layout_.place, 2 * kWord, tables, physical, walks_left));
    if (!slice_) return {};
    RINGSIDE_ASSIGN(pointers_at_, slice_->read_value<std::uint64_t>(AreaOffset{0}));
    RINGSIDE_ASSIGN(cpus, slice_->read_value<std::uint64_t>(AreaOffset{kWord}));
    if (pointers_at_ == 0 || cpus == 0) return {};
  }
  if (cpus > kMostCpus)
    return fail(ErrorCode::kFormat, "{}: {} of {} rings; is it Redox' {}?", layout_.place,
                layout_.array_size ? "an array" : "a slice", cpus,
                layout_.array_size ? "BUFS" : "BUFS_RAW");
  RINGSIDE_ASSIGN(pointers_,
                  map_area(GuestVirt{pointers_at_}, cpus * kWord, tables, physical, walks_left));
  rings_.resize(cpus);
  return {};
}

Result<std::uint64_t> RedoxRings::pointer_of(std::size_t cpu) const {
  return pointers_->read_value<std::uint64_t>(AreaOffset{cpu * kWord});
}

Result<std::optional<RedoxRings::Ring>> RedoxRings::find_ring(const RedoxLayout& layout,
                                                              GuestVirt structure,
                                                              const memory::PageTables& tables,
                                                              PhysicalMemory& physical,
                                                              std::uint64_t& walks_left) {
  Ring ring;
  ring.structure = structure;
  const std::uint64_t last = std::max(
      {layout.buf, layout.tail, layout.nmi_kcount, layout.nmi_ucount, layout.words.value_or(0)});
  if (last > kMostOffset)
    return fail(ErrorCode::kFormat, "a ring's structure has a member at offset {}", last);
  RINGSIDE_ASSIGN(ring.state, map_area(structure, last + kWord, tables, physical, walks_left));
  if (!ring.state) return std::nullopt;
  ring.growth = PlausibleGrowth(monotonic_ns() - std::min(monotonic_ns(), kGuestsStartNs));
  ring.words = layout.ring_words;
  if (layout.words) {
    RINGSIDE_ASSIGN(ring.words, ring.state->read_value<std::uint64_t>(AreaOffset{*layout.words}));
  }
  if (!std::has_single_bit(ring.words) || ring.words > kMostRingWords)
    return fail(ErrorCode::kFormat, "the ring at {} has {} words", structure, ring.words);
  RINGSIDE_ASSIGN(const auto buf, ring.state->read_value<std::uint64_t>(AreaOffset{layout.buf}));
  RINGSIDE_ASSIGN(ring.memory,
                  map_area(GuestVirt{buf}, ring.words * kWord, tables, physical, walks_left));
  if (!ring.memory) return std::nullopt;
  return ring;
}

Result<RedoxRings::State> RedoxRings::read_state(Ring& ring) const {
  State state;
  RINGSIDE_ASSIGN(state.tail, ring.state->read_value<std::uint64_t>(AreaOffset{layout_.tail}));
  RINGSIDE_ASSIGN(state.kernel_samples,
                  ring.state->read_value<std::uint64_t>(AreaOffset{layout_.nmi_kcount}));
  RINGSIDE_ASSIGN(state.user_samples,
                  ring.state->read_value<std::uint64_t>(AreaOffset{layout_.nmi_ucount}));
  return state;
}

void RedoxRings::want_all() {
  for (Ring& ring : rings_) ring.has_begun = true;
}

Result<void> RedoxRings::poll(RecordCollector* records, bool) {
  std::size_t budget = kMostWords;
  has_missed_context_ = false;
  for (std::size_t n = 0; n < rings_.size(); ++n)
    RINGSIDE_TRY(poll((next_ + n) % rings_.size(), records, budget));
  ++next_;
  return {};
}

// Reads the words behind the position into bytes_; those that the guest overwrites meanwhile are
// left out. False where there are none.
Result<bool> RedoxRings::read_words(Ring& ring, std::size_t budget) {
  std::uint64_t count = ring.last.tail - ring.position;
  if (count > ring.words) ring.position = ring.last.tail - ring.words;
  count = std::min<std::uint64_t>(ring.last.tail - ring.position, budget);
  if (count == 0) return false;
  bytes_.resize(count * kWord);
  const std::uint64_t begin = ring.position % ring.words;
  const std::uint64_t to_end = std::min(count, ring.words - begin);
  const std::span<std::byte> bytes(bytes_);
  RINGSIDE_TRY(ring.memory->read(AreaOffset{begin * kWord}, bytes.first(to_end * kWord)));
  RINGSIDE_TRY(ring.memory->read(AreaOffset{0}, bytes.subspan(to_end * kWord)));
  RINGSIDE_ASSIGN(const State now, read_state(ring));
  const std::uint64_t oldest = now.tail - std::min(now.tail, ring.words);
  if (oldest <= ring.position) return true;
  const std::uint64_t gone = std::min(oldest - ring.position, count);
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(gone * kWord));
  ring.position += gone;
  return !bytes_.empty();
}

// Reads how far a ring has got.
Result<void> RedoxRings::follow(Ring& ring) const {
  const std::uint64_t due_until_now = due(ring);
  State before = ring.last;
  RINGSIDE_ASSIGN(ring.last, read_state(ring));
  if (!std::exchange(ring.has_begun, true)) {
    ring.first = ring.last;
    ring.position = ring.last.tail;
    return {};
  }
  // A tail that has gone back is that of a kernel that has begun anew.
  if (ring.last.tail < ring.position) {
    ring.due_before = due_until_now;
    ring.first = before = {};
    ring.position = 0;
  }
  const std::uint64_t most = std::max(ring.last.kernel_samples - before.kernel_samples,
                                      ring.last.user_samples - before.user_samples);
  if (ring.growth.allows(most, monotonic_ns())) return {};
  ring.due_before = due_until_now;
  ring.first = ring.last;
  ++ring.damaged;
  return {};
}

// Takes the words that it reads out of the budget, which all CPUs share.
Result<void> RedoxRings::poll(std::size_t cpu, RecordCollector* records, std::size_t& budget) {
  Ring& ring = rings_[cpu];
  if (ring.is_gone) return {};
  RINGSIDE_TRY(follow(ring));
  RINGSIDE_ASSIGN(const bool has_words, read_words(ring, budget));
  if (!has_words) return {};
  const RingWords words{Bytes(bytes_)};
  budget -= words.size();
  if (find_piece_ == nullptr) find_piece_ = format_of(words);
  const bool is_whole = ring.position + words.size() == ring.last.tail;
  std::size_t at = 0;
  while (at < words.size()) {
    // The rest of a sample that is cut here comes with the next poll.
    if (!is_whole && words.size() - at < wire::redox::kMostWords) break;
    const Found found = find_piece_(words, at, sample_);
    at += found.words;
    if (found.piece != Piece::kSample) continue;
    ++ring.read;
    if (records != nullptr) RINGSIDE_TRY(take(sample_, static_cast<std::uint16_t>(cpu), *records));
  }
  ring.position += at;
  return {};
}

// Samples without names are better than none.
Result<void> RedoxRings::without_contexts(Result<void> result) {
  if (result || !is_of_names(result.error())) return result;
  contexts_.reset();
  return {};
}

// The names of now: a context that begins a program changes its name. Those that were given come
// first.
Result<std::string_view> RedoxRings::name_of(std::uint32_t context) {
  const auto given = layout_.context_names.find(context);
  if (given != layout_.context_names.end()) return given->second;
  if (!contexts_) return std::string_view();
  const std::string_view name = contexts_->name_of(context);
  if (!name.empty() || std::exchange(has_missed_context_, true)) return name;
  RINGSIDE_TRY(without_contexts(contexts_->read()));
  return contexts_ ? contexts_->name_of(context) : std::string_view();
}

Result<bool> RedoxRings::wants_tables() {
  if (contexts_) RINGSIDE_TRY(without_contexts(contexts_->read()));
  return contexts_ != nullptr && contexts_->have_moved();
}

Result<void> RedoxRings::use_tables(const TablesOfVcpu& tables, PhysicalMemory& physical) {
  for (const VcpuTables& each : tables)
    if (contexts_ && contexts_->have_moved())
      RINGSIDE_TRY(without_contexts(contexts_->map(*each.tables, physical)));
  if (contexts_) RINGSIDE_TRY(without_contexts(contexts_->read()));
  return {};
}

Result<void> RedoxRings::take(const RingSample& sample, std::uint16_t cpu,
                              RecordCollector& records) {
  kernel_.clear();
  user_.clear();
  const auto add = [this](GuestVirt address) {
    (is_user_address(address.value) ? user_ : kernel_).push_back(address.value);
  };
  add(sample.pc);
  for (const GuestVirt caller : sample.callers) add(caller);
  wire::GuestRecord record;
  record.kind = wire::GuestRecordKind::kSample;
  record.cpu = cpu;
  record.time = sample.counter;
  record.sample.source = wire::GuestSampleSource::kNmi;
  record.sample.kernel = {kernel_, user_.empty() ? sample.stop : StopReason::kUserMode, 0, {}};
  record.sample.user = {user_, sample.stop, 0, {}};
  if (sample.context) {
    record.task.pid = record.task.tid = *sample.context;
    RINGSIDE_ASSIGN(record.task.name, name_of(*sample.context));
  }
  records.take(record, {});
  return {};
}

Result<bool> RedoxRings::are_there() {
  if (slice_) {
    RINGSIDE_ASSIGN(const auto pointer, slice_->read_value<std::uint64_t>(AreaOffset{0}));
    RINGSIDE_ASSIGN(const auto cpus, slice_->read_value<std::uint64_t>(AreaOffset{kWord}));
    if (pointer != pointers_at_ || cpus != rings_.size()) return false;
  }
  for (std::size_t cpu = 0; cpu < rings_.size(); ++cpu) {
    RINGSIDE_ASSIGN(const std::uint64_t structure, pointer_of(cpu));
    rings_[cpu].is_gone = structure == 0;
    if (structure != 0 && structure != rings_[cpu].structure.value) return false;
  }
  return !std::all_of(rings_.begin(), rings_.end(), [](const Ring& ring) { return ring.is_gone; });
}

// Format A writes no samples of user code.
std::uint64_t RedoxRings::due(const Ring& ring) const {
  const auto since = [](std::uint64_t first, std::uint64_t last) {
    return last - std::min(first, last);
  };
  const std::uint64_t user = since(ring.first.user_samples, ring.last.user_samples);
  return ring.due_before + since(ring.first.kernel_samples, ring.last.kernel_samples) +
         (find_piece_ == find_piece_b ? user : 0);
}

bool RedoxRings::are_same(const GuestRings& other) const {
  const auto* const rings = dynamic_cast<const RedoxRings*>(&other);
  return rings != nullptr && rings->pointers_at_ == pointers_at_ &&
         std::equal(rings_.begin(), rings_.end(), rings->rings_.begin(), rings->rings_.end(),
                    [](const Ring& a, const Ring& b) {
                      return a.structure == b.structure && a.words == b.words;
                    });
}

RingCounts RedoxRings::counts() const {
  RingCounts sum;
  for (const Ring& ring : rings_) {
    const std::uint64_t expected = due(ring);
    sum.read += ring.read;
    sum.missed += expected - std::min(expected, ring.read);
    sum.lost_samples = sum.missed;
    sum.damaged += ring.damaged;
  }
  return sum;
}

}  // namespace ringside::engines::ring
