#include "importers/guest_stream/guest_stream.h"

#include <fmt/core.h>

#include <utility>

#include "importers/guest_stream/merged_records.h"
#include "importers/guest_stream/record_writer.h"

namespace ringside::importers {
namespace {

using namespace guest_stream;

// Where the kernel ran, as the stream and the options show it.
std::optional<std::uint64_t> load_bias(const wire::GuestFacts& facts,
                                       const ImportOptions& options) {
  if (options.kernel_load_bias) return options.kernel_load_bias;
  if (!options.kernel) return std::nullopt;
  return elf::load_bias_by(*options.kernel, facts.anchor_name, facts.anchor);
}

Result<recording::Writer*> create(const MergedRecords& records, const wire::GuestFacts& facts,
                                  GuestClock& clock, Target& target) {
  recording::Header header;
  header.engine = "ring";
  header.arch = facts.arch;
  header.vcpu_count = std::max(facts.cpus, records.most_cpu() + 1);
  clock.id = clock.hz > 0 ? recording::kHostClock : 1;
  const recording::Source source{
      .name = recording::kCpuSourceName,
      .kind = recording::SourceKind::kCpu,
      .clock = clock.id,
      .engine = header.engine,
      .values = {{.name = "ticks", .unit = recording::WeightUnit::kTicks}}};
  RINGSIDE_ASSIGN(recording::Writer* const writer, target.create(header, {source}));
  if (clock.hz > 0) return writer;
  RINGSIDE_ASSIGN(
      [[maybe_unused]] const std::uint32_t id,
      writer->add_clock({1, recording::ClockKind::kGuestCounter, "the guest's counter", 0}));
  return writer;
}

Result<Imported> finish(const MergedRecords& records, std::uint64_t count,
                        const RecordWriter& recorded, recording::Writer& writer) {
  Imported imported;
  imported.records = count;
  imported.warnings = records.warnings();
  if (recorded.left_out() != 0)
    imported.warnings.push_back(fmt::format(
        "{} events and allocations are left out: they have too many names", recorded.left_out()));
  if (records.all_restarts() != 0)
    imported.warnings.push_back(fmt::format(
        "the guest's kernel began anew {} times; its times go on where those before ended",
        records.all_restarts()));
  recording::Statistics statistics;
  statistics.lost = records.lost_samples();
  statistics.due = recorded.samples() + statistics.lost;
  const std::uint64_t without_room = std::min(records.without_room(), statistics.lost);
  const std::uint64_t on_the_way = statistics.lost - without_room;
  if (on_the_way != 0) statistics.counters[recording::kLostByOverwriting] = on_the_way;
  if (without_room != 0) statistics.counters[recording::kLostToGuestRing] = without_room;
  if (const std::uint64_t events = records.lost() - records.lost_samples(); events != 0)
    imported.warnings.push_back(fmt::format(
        "{} events and allocations were lost, in the guest's rings or on their way", events));
  for (const std::string& warning : imported.warnings) RINGSIDE_TRY(writer.add_warning(warning));
  RINGSIDE_TRY(writer.add_statistics(statistics));
  return imported;
}

}  // namespace

// The check of a record is 32 bits and its mark 16, and it is sought in a piece of the stream: its
// beginning may be lost.
Likeness guest_stream_likeness(const Input& input, const ImportOptions&) {
  constexpr std::size_t kEnough = 64 << 10;
  bool has_record = false;
  wire::GuestStream stream;
  (void)stream.read(input.bytes.first(std::min(input.bytes.size(), kEnough)), true,
                    [&](const wire::GuestRecord&, std::uint64_t) -> Result<void> {
                      has_record = true;
                      return {};
                    });
  return has_record ? Likeness::kCertain : Likeness::kNone;
}

Result<Imported> import_guest_stream(std::span<const Input> inputs, const ImportOptions& options,
                                     Target& target) {
  MergedRecords records(inputs);
  const wire::GuestRecord* record = records.next();
  if (record == nullptr)
    return fail(ErrorCode::kFormat,
                "{}: there is no record of ringside's guest library in its {} bytes",
                inputs.front().name, inputs.front().bytes.size());
  if (!records.facts())
    return fail(ErrorCode::kFormat,
                "{}: no record says of which architecture the guest is; such a one begins each "
                "piece that ringside_drain() gives first, and every 32 KiB",
                inputs.front().name);
  const wire::GuestFacts& facts = *records.facts();
  const auto bias = load_bias(facts, options);
  if (bias) target.place_kernel(*bias);
  GuestClock clock{
      .first = records.first_time(),
      .hz = options.counter_hz > 0 ? options.counter_hz : static_cast<double>(facts.clock_hz)};
  RINGSIDE_ASSIGN(recording::Writer* const writer, create(records, facts, clock, target));
  std::optional<elf::Image> kernel;
  if (options.kernel) kernel = elf::Image{1, elf::kKernelImage, options.kernel, bias.value_or(0)};
  RecordWriter recorded(*writer, clock, facts.arch, std::move(kernel));
  std::uint64_t count = 0;
  std::uint32_t restarts = 0;
  for (; record != nullptr; record = records.next(), ++count) {
    if (std::exchange(restarts, records.restarts()) != records.restarts())
      recorded.begin_anew(record->time);
    RINGSIDE_TRY(recorded.add(*record));
  }
  RINGSIDE_TRY(recorded.finish());
  return finish(records, count, recorded, *writer);
}

}  // namespace ringside::importers
