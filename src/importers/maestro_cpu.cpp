#include "importers/maestro_cpu.h"

namespace ringside::importers {
namespace {

constexpr std::uint8_t kMostFrames = 64;

// Frame 0 is where the vCPU was; whether a piece of a cut stack begins with it says `exact`.
Stack stack_of(std::span<const GuestVirt> addresses, bool exact) {
  Stack stack;
  stack.stop = StopReason::kEndOfStack;
  for (const GuestVirt address : addresses) {
    Frame frame;
    frame.address = address;
    frame.exact = exact && stack.frames.empty();
    frame.source = frame.exact ? FrameSource::kRegisters : FrameSource::kFramePointer;
    stack.frames.push_back(frame);
  }
  return stack;
}

class Import {
 public:
  Import(const MaestroOptions& options, recording::Writer& writer)
      : options_(options), writer_(writer) {}

  Result<void> add(std::span<const GuestVirt> addresses) {
    ++result.samples;
    if (!options_.cut) return add_stack(stack_of(addresses, true));
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= addresses.size(); ++i) {
      const bool is_named =
          i < addresses.size() && options_.is_named(i == 0 ? addresses[i] : addresses[i] - 1);
      if (is_named) continue;
      if (i > begin)
        RINGSIDE_TRY(add_stack(stack_of(addresses.subspan(begin, i - begin), begin == 0)));
      begin = i + 1;
    }
    return {};
  }

  MaestroResult result;

 private:
  Result<void> add_stack(const Stack& stack) {
    recording::SampleInfo info;
    info.level = PrivilegeLevel::kKernel;
    ++result.stacks;
    return writer_.add_sample(info, &stack);
  }

  const MaestroOptions& options_;
  recording::Writer& writer_;
};

}  // namespace

Result<bool> MaestroCpuReader::next(std::vector<GuestVirt>& addresses) {
  addresses.clear();
  if (reader_.empty()) return false;
  const std::size_t offset = reader_.offset();
  RINGSIDE_ASSIGN(const auto count, reader_.read<std::uint8_t>());
  if (count == 0 || count > kMostFrames)
    return fail(ErrorCode::kFormat,
                "no raw data of Maestro's CPU profiler: a sample of {} addresses at offset {:#x}, "
                "which has 1 to {}",
                count, offset, kMostFrames);
  for (unsigned i = 0; i < count; ++i) {
    RINGSIDE_ASSIGN(const auto address, reader_.read<std::uint64_t>());
    addresses.push_back(GuestVirt{address});
  }
  return true;
}

Result<MaestroResult> import_maestro_cpu(Bytes bytes, const MaestroOptions& options,
                                         recording::Writer& writer) {
  MaestroCpuReader reader(bytes);
  Import import(options, writer);
  std::vector<GuestVirt> addresses;
  while (true) {
    const auto more = reader.next(addresses);
    if (!more && import.result.samples == 0) return tl::unexpected<Error>(more.error());
    if (!more) {
      import.result.damage = "the rest of the raw data is left out: " + more.error().message;
      break;
    }
    if (!*more) break;
    RINGSIDE_TRY(import.add(addresses));
  }
  recording::Statistics statistics;
  statistics.due = import.result.stacks;
  RINGSIDE_TRY(writer.add_statistics(statistics));
  return std::move(import.result);
}

}  // namespace ringside::importers
