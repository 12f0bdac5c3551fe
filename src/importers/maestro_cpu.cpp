#include "importers/maestro_cpu.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <map>
#include <unordered_map>
#include <utility>

#include "importers/parts/event_numbers.h"

namespace ringside::importers {
namespace {

constexpr std::uint8_t kMostFrames = 64;
constexpr std::size_t kReleaseBytes = 64 << 20;

// Addresses that four levels of page tables map. There are other words in stacks that were walked
// through code without frame pointers.
bool is_address(GuestVirt at) {
  return at.value < 0x0000800000000000 || at.value >= 0xffff800000000000;
}

class Import {
 public:
  Import(const ImportOptions& options, recording::Writer& writer)
      : options_(options), writer_(writer) {
    info_.vcpu = recording::kNoVcpu;
    info_.level = PrivilegeLevel::kKernel;
  }

  Result<void> add(std::span<const GuestVirt> addresses) {
    info_.time_ns = samples_++;
    return options_.maestro_name ? add_pieces(addresses) : add_whole(addresses);
  }

  [[nodiscard]] Result<void> add_statistics() {
    recording::Statistics statistics;
    statistics.due = stacks_;
    return writer_.add_statistics(statistics);
  }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }

 private:
  static constexpr std::size_t kMostNames = 1 << 18;
  static constexpr std::size_t kMostStacks = 1 << 16;

  Result<void> add_whole(std::span<const GuestVirt> addresses) {
    stack_.frames.clear();
    stack_.stop = StopReason::kEndOfStack;
    for (const GuestVirt address : addresses) {
      const bool is_leaf = stack_.frames.empty();
      stack_.frames.push_back(
          {.address = address,
           .exact = is_leaf,
           .source = is_leaf ? FrameSource::kRegisters : FrameSource::kFramePointer});
    }
    ++stacks_;
    return writer_.add_sample(info_, &stack_);
  }

  Result<void> add_pieces(std::span<const GuestVirt> addresses) {
    if (pieces_.size() == kMostStacks) pieces_.clear();
    const XXH128_hash_t hash = XXH3_128bits(addresses.data(), addresses.size_bytes());
    const auto [known, is_new] = pieces_.try_emplace({hash.low64, hash.high64});
    if (is_new) RINGSIDE_TRY(cut(addresses, known->second));
    for (const recording::StackRef& piece : known->second) {
      RINGSIDE_TRY(writer_.add_sample(info_, {&piece, 1}, {}));
      ++stacks_;
    }
    return {};
  }

  Result<void> cut(std::span<const GuestVirt> addresses, std::vector<recording::StackRef>& pieces) {
    const auto add_piece = [&] {
      if (!piece_.empty()) pieces.push_back(writer_.add_stack(piece_));
      piece_.clear();
    };
    for (const GuestVirt& address : addresses) {
      RINGSIDE_ASSIGN(const std::uint32_t name, name_of(address));
      if (name == 0) {
        add_piece();
        continue;
      }
      const bool is_leaf = &address == addresses.data();
      // All addresses are looked up as they are.
      piece_.push_back({.address = address,
                        .exact = true,
                        .source = is_leaf ? FrameSource::kRegisters : FrameSource::kFramePointer,
                        .function = name});
    }
    add_piece();
    return {};
  }

  // The text; 0 where the address has no name.
  Result<std::uint32_t> name_of(GuestVirt address) {
    if (names_.size() == kMostNames) names_.clear();
    const auto [known, is_new] = names_.try_emplace(address.value);
    if (!is_new) return known->second;
    const std::optional<std::string> name = options_.maestro_name(address);
    if (!name) return 0;
    RINGSIDE_ASSIGN(known->second, writer_.add_text(*name));
    return known->second;
  }

  const ImportOptions& options_;
  recording::Writer& writer_;
  recording::SampleInfo info_;
  std::uint64_t samples_ = 0;  // in the raw data
  std::uint64_t stacks_ = 0;   // in the recording
  Stack stack_;                // reused
  std::vector<recording::RecordedFrame> piece_;
  std::unordered_map<std::uint64_t, std::uint32_t> names_;  // texts by address
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<recording::StackRef>>
      pieces_;  // of stacks, by their hashes
};

Result<recording::Writer*> create(Target& target) {
  recording::Header header;
  header.engine = "maestro";
  const recording::Source source{
      .name = recording::kCpuSourceName,
      .kind = recording::SourceKind::kCpu,
      .clock = kEventNumbers,
      .engine = header.engine,
      .values = {{.name = "ticks", .unit = recording::WeightUnit::kTicks}}};
  RINGSIDE_ASSIGN(recording::Writer* const writer, target.create(header, {source}));
  RINGSIDE_TRY(add_event_numbers(*writer));
  return writer;
}

}  // namespace

Result<bool> MaestroCpuReader::next(std::vector<GuestVirt>& addresses) {
  addresses.clear();
  std::size_t offset = 0;
  std::uint8_t count = 0;
  while (count == 0) {
    if (reader_.empty()) return false;
    offset = reader_.offset();
    RINGSIDE_ASSIGN(count, reader_.read<std::uint8_t>());
    if (count == 0) ++skipped_;
  }
  if (count > kMostFrames)
    return fail(ErrorCode::kFormat,
                "no raw data of Maestro's CPU profiler: a sample of {} addresses at offset {:#x}, "
                "which has at most {}",
                count, offset, kMostFrames);
  for (unsigned i = 0; i < count; ++i) {
    RINGSIDE_ASSIGN(const auto address, reader_.read<std::uint64_t>());
    addresses.push_back(GuestVirt{address});
  }
  return true;
}

Likeness maestro_likeness(const Input& input, const ImportOptions& options) {
  MaestroCpuReader reader(input.bytes);
  std::vector<GuestVirt> addresses;
  std::uint64_t samples = 0;
  std::uint64_t frames = 0;
  std::uint64_t others = 0;  // frames that are no address
  bool is_in_kernel = options.kernel_code.empty();
  while (true) {
    const auto more = reader.next(addresses);
    if (!more || (*more && !is_address(addresses.front()))) return Likeness::kNone;
    if (!*more) break;
    ++samples;
    frames += addresses.size();
    for (const GuestVirt address : addresses) {
      if (!is_address(address)) ++others;
      is_in_kernel = is_in_kernel || options.is_kernel_code(address);
    }
  }
  const bool is_code = frames != 0 && others * 4 <= frames && is_in_kernel;
  return is_code && reader.skipped() <= samples ? Likeness::kFits : Likeness::kNone;
}

Result<Imported> import_maestro(std::span<const Input> inputs, const ImportOptions& options,
                                Target& target) {
  const Input& input = inputs.front();
  MaestroCpuReader reader(input.bytes);
  std::vector<GuestVirt> addresses;
  auto more = reader.next(addresses);
  if (!more) return fail(more.error().code, "{}: {}", input.name, more.error().message);
  if (!*more)
    return fail(ErrorCode::kTruncated, "{}: offset 0x0: it {}, and a sample should begin",
                input.name, input.bytes.empty() ? "is empty" : "holds zeros only");
  RINGSIDE_ASSIGN(recording::Writer* const writer, create(target));
  Import import(options, *writer);
  std::size_t released_at = 0;
  while (more && *more) {
    RINGSIDE_TRY(import.add(addresses));
    if (reader.offset() - released_at >= kReleaseBytes) {
      if (input.release) input.release();
      released_at = reader.offset();
    }
    more = reader.next(addresses);
  }
  Imported imported;
  imported.records = import.samples();
  if (!more)
    imported.warnings.push_back(
        fmt::format("{}: the rest is left out: {}", input.name, more.error().message));
  if (reader.skipped() != 0)
    imported.warnings.push_back(fmt::format("{}: samples without an address are left out: {} of {}",
                                            input.name, reader.skipped(),
                                            reader.skipped() + import.samples()));
  for (const std::string& warning : imported.warnings) RINGSIDE_TRY(writer->add_warning(warning));
  RINGSIDE_TRY(import.add_statistics());
  return imported;
}

}  // namespace ringside::importers
