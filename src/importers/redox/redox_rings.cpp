#include "importers/redox/redox_rings.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "importers/redox/cpu_numbers.h"
#include "importers/redox/ring_reader.h"
#include "importers/redox/sample_writer.h"

namespace ringside::importers {
namespace {

using namespace redox;

constexpr RingFormat kFormatA{'A', find_piece_a, false};
constexpr RingFormat kFormatB{'B', find_piece_b, true};

constexpr const char* kLostInRing = "lost, cut or overwritten in the kernel's ring";

// One CPU's ring and the sample of it that is next.
struct Ring {
  RingReader reader;
  VcpuId vcpu;
  const RingSample* sample = nullptr;
};

bool is_in_kernel(const RingSample& sample, const ImportOptions& options) {
  if (options.kernel_code.empty()) return true;
  const auto is_known = [&](GuestVirt address) {
    return is_user_address(address.value) || options.is_kernel_code(address);
  };
  return is_known(sample.pc) && std::all_of(sample.callers.begin(), sample.callers.end(), is_known);
}

// A ring's memory has words without a beginning at the file's own beginning and behind the newest
// sample.
Likeness likeness(const RingFormat& format, const Input& input, const ImportOptions& options) {
  const RingWords words(input.bytes);
  PageRelease release(input);
  RingSample sample;
  std::size_t samples = 0;
  std::size_t loose = 0;
  for (std::size_t at = 0; at < words.size();) {
    const Found found = format.find(words, at, sample);
    at += found.words;
    release.reach(at);
    if (found.piece == Piece::kSample) {
      if (found.fault != nullptr || !is_in_kernel(sample, options)) return Likeness::kNone;
      ++samples;
    } else if (found.piece == Piece::kUnused) {
      if (at < words.size()) return Likeness::kNone;
    } else if (found.piece == Piece::kLoose) {
      if (found.words >= 2 * kMostWords || ++loose > 2) return Likeness::kNone;
    } else if (at < words.size()) {
      return Likeness::kNone;
    }
  }
  return samples == 0 ? Likeness::kNone : Likeness::kFits;
}

struct Later {
  // The CPU of the lower number is first of two with one time.
  bool operator()(const Ring* a, const Ring* b) const {
    return std::pair(a->sample->counter, a->vcpu) > std::pair(b->sample->counter, b->vcpu);
  }
};
using Queue = std::priority_queue<Ring*, std::vector<Ring*>, Later>;

Result<std::vector<Ring>> open_rings(const RingFormat& format, std::span<const Input> inputs) {
  RINGSIDE_ASSIGN(const std::vector<VcpuId> numbers, cpu_numbers(inputs));
  std::vector<Ring> rings;
  rings.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    rings.push_back({RingReader(inputs[i], format), numbers[i]});
    rings.back().sample = rings.back().reader.next();
  }
  return rings;
}

Result<recording::Writer*> create(std::span<const Ring> rings, std::uint64_t first,
                                  const ImportOptions& options, Target& target) {
  const bool has_time = options.counter_hz > 0;
  recording::Header header;
  header.engine = "redox";
  header.arch = Arch::kX86_64;
  if (has_time) header.start_monotonic_ns = nanoseconds_of(first, options.counter_hz);
  for (const Ring& ring : rings)
    header.vcpu_count = std::max(header.vcpu_count, std::uint32_t{ring.vcpu.value} + 1);
  recording::Source source{.name = recording::kCpuSourceName,
                           .kind = recording::SourceKind::kCpu,
                           .clock = has_time ? recording::kHostClock : 1,
                           .engine = header.engine,
                           .values = {{.name = "ticks", .unit = recording::WeightUnit::kTicks}}};
  RINGSIDE_ASSIGN(recording::Writer* const writer, target.create(header, {source}));
  if (has_time) return writer;
  RINGSIDE_ASSIGN(
      [[maybe_unused]] const std::uint32_t clock,
      writer->add_clock({1, recording::ClockKind::kGuestCounter, "time stamp counter", 0}));
  return writer;
}

Result<Imported> finish(std::span<const Ring> rings, std::uint64_t samples,
                        recording::Writer& writer) {
  Imported imported;
  imported.records = samples;
  recording::Statistics statistics;
  for (const Ring& ring : rings) {
    statistics.lost += ring.reader.lost();
    for (std::string& warning : ring.reader.warnings())
      imported.warnings.push_back(std::move(warning));
  }
  statistics.due = samples + statistics.lost;
  if (statistics.lost != 0) statistics.counters[kLostInRing] = statistics.lost;
  for (const std::string& warning : imported.warnings) RINGSIDE_TRY(writer.add_warning(warning));
  RINGSIDE_TRY(writer.add_statistics(statistics));
  return imported;
}

Result<Imported> import_rings(const RingFormat& format, std::span<const Input> inputs,
                              const ImportOptions& options, Target& target) {
  RINGSIDE_ASSIGN(std::vector<Ring> rings, open_rings(format, inputs));
  Queue queue;
  for (Ring& ring : rings)
    if (ring.sample != nullptr) queue.push(&ring);
  if (queue.empty())
    return fail(ErrorCode::kFormat, "{}: there is no sample of Redox' format {}: {}",
                inputs.front().name, format.letter, rings.front().reader.reason());
  const std::uint64_t first = queue.top()->sample->counter;
  RINGSIDE_ASSIGN(recording::Writer* const writer, create(rings, first, options, target));
  SampleWriter samples(*writer, options, first);
  while (!queue.empty()) {
    Ring* const ring = queue.top();
    queue.pop();
    RINGSIDE_TRY(samples.add(*ring->sample, ring->vcpu));
    ring->sample = ring->reader.next();
    if (ring->sample != nullptr) queue.push(ring);
  }
  return finish(rings, samples.samples(), *writer);
}

}  // namespace

Likeness redox_a_likeness(const Input& input, const ImportOptions& options) {
  return likeness(kFormatA, input, options);
}

// The mark of a sample's beginning is 59 bits, and nothing else begins with it.
Likeness redox_b_likeness(const Input& input, const ImportOptions& options) {
  const RingWords words(input.bytes);
  RingSample sample;
  if (words.size() != 0 && find_piece_b(words, 0, sample).piece == Piece::kSample)
    return Likeness::kCertain;
  return likeness(kFormatB, input, options);
}

Result<Imported> import_redox_a(std::span<const Input> inputs, const ImportOptions& options,
                                Target& target) {
  return import_rings(kFormatA, inputs, options, target);
}

Result<Imported> import_redox_b(std::span<const Input> inputs, const ImportOptions& options,
                                Target& target) {
  return import_rings(kFormatB, inputs, options, target);
}

}  // namespace ringside::importers
