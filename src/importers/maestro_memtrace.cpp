#include "importers/maestro_memtrace.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/zeros.h"
#include "importers/parts/event_numbers.h"
#include "importers/parts/faults.h"
#include "importers/parts/stack_budget.h"
#include "recording/guest_event_tables.h"

namespace ringside::importers {
namespace {

constexpr std::uint8_t kLastOperation = 2;
constexpr std::uint8_t kMostFrames = 64;
constexpr std::size_t kReleaseBytes = 64 << 20;

wire::GuestAllocation allocation_of(const MemtraceRecord& record) {
  wire::GuestAllocation allocation;
  allocation.operation = static_cast<wire::AllocationOperation>(record.operation);
  allocation.unit =
      record.allocator == "buddy" ? wire::AllocationUnit::kPages : wire::AllocationUnit::kBytes;
  allocation.allocator = record.allocator;
  allocation.pointer = record.pointer;
  if (allocation.operation == wire::AllocationOperation::kRealloc) allocation.old = record.pointer;
  allocation.size = record.size;
  return allocation;
}

class Import {
 public:
  explicit Import(recording::Writer& writer) : writer_(writer), tables_(writer, kEventNumbers) {
    tables_.has_first_source(recording::kCpuSource);
    info_.vcpu = recording::kNoVcpu;
    info_.level = PrivilegeLevel::kKernel;
  }

  Result<void> add(const MemtraceRecord& record, std::size_t offset) {
    return tables_.add(allocation_of(record), count_++, context_of(record, offset));
  }
  [[nodiscard]] Result<void> finish() { return tables_.flush(); }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t left_out() const { return tables_.left_out(); }
  [[nodiscard]] const Faults& without_stack() const { return without_stack_; }

 private:
  std::uint32_t context_of(const MemtraceRecord& record, std::size_t offset) {
    if (!record.frames.empty() && !budget_.has_room())
      without_stack_.add(offset, StackBudget::kReason);
    if (record.frames.empty() || !budget_.has_room()) return writer_.add_context(info_, {});
    stack_.frames.clear();
    stack_.stop = StopReason::kEndOfStack;
    for (const GuestVirt address : record.frames) {
      stack_.frames.push_back({.address = address, .source = FrameSource::kGuestsWalk});
      budget_.add_frame();
    }
    const recording::StackRef stack = writer_.add_stack(stack_, 0);
    budget_.add_stack(stack);
    return writer_.add_context(info_, {&stack, 1});
  }

  recording::Writer& writer_;
  recording::GuestEventTables tables_;
  recording::SampleInfo info_;
  StackBudget budget_;
  Faults without_stack_;
  std::uint64_t count_ = 0;
  Stack stack_;  // reused
};

Result<recording::Writer*> create(const MemtraceRecord& first, Target& target) {
  recording::Header header;
  header.engine = "maestro";
  RINGSIDE_ASSIGN(recording::Writer* const writer,
                  target.create(header, {recording::GuestEventTables::source_of(
                                            allocation_of(first), kEventNumbers)}));
  RINGSIDE_TRY(add_event_numbers(*writer));
  return writer;
}

Result<Imported> finish(Import& import, const Input& input, const Result<bool>& end,
                        recording::Writer& writer) {
  RINGSIDE_TRY(import.finish());
  Imported imported;
  imported.records = import.count();
  if (!end)
    imported.warnings.push_back(
        fmt::format("{}: the rest is left out: {}", input.name, end.error().message));
  if (import.left_out() != 0)
    imported.warnings.push_back(fmt::format("{}: {} records of too many allocators are left out",
                                            input.name, import.left_out()));
  if (import.without_stack().count() != 0)
    imported.warnings.push_back(import.without_stack().sentence(input.name, "stacks"));
  for (const std::string& warning : imported.warnings) RINGSIDE_TRY(writer.add_warning(warning));
  return imported;
}

bool is_word(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:").find(c) != std::string_view::npos;
  });
}

// Addresses of code that four levels of page tables map, but for the first page.
bool is_address(GuestVirt at) {
  return (at.value >= 0x1000 && at.value < 0x0000800000000000) || at.value >= 0xffff800000000000;
}

// Zeros are a whole record that no allocator writes.
bool is_of_zeros(const MemtraceRecord& record) {
  return record.allocator.empty() && record.operation == 0 && record.pointer == 0 &&
         record.size == 0 && record.frames.empty();
}

}  // namespace

Result<void> MaestroMemtraceReader::read(MemtraceRecord& record) {
  RINGSIDE_ASSIGN(const auto length, reader_.read<std::uint8_t>());
  RINGSIDE_ASSIGN(const Bytes name, reader_.read_bytes(length));
  record.allocator = {reinterpret_cast<const char*>(name.data()), name.size()};
  const std::size_t operation_at = reader_.offset();
  RINGSIDE_ASSIGN(record.operation, reader_.read<std::uint8_t>());
  if (record.operation > kLastOperation)
    return fail(ErrorCode::kFormat,
                "no record of Maestro's memtrace: the operation at offset {:#x} is {}, and the "
                "last one is {}",
                operation_at, record.operation, kLastOperation);
  RINGSIDE_ASSIGN(record.pointer, reader_.read<std::uint64_t>());
  RINGSIDE_ASSIGN(record.size, reader_.read<std::uint64_t>());
  const std::size_t count_at = reader_.offset();
  RINGSIDE_ASSIGN(const auto count, reader_.read<std::uint8_t>());
  if (count > kMostFrames)
    return fail(ErrorCode::kFormat,
                "no record of Maestro's memtrace: the stack at offset {:#x} has {} frames, and at "
                "most {} may be there",
                count_at, count, kMostFrames);
  record.frames.clear();
  for (unsigned i = 0; i < count; ++i) {
    RINGSIDE_ASSIGN(const auto address, reader_.read<std::uint64_t>());
    record.frames.push_back(GuestVirt{address});
  }
  return {};
}

bool MaestroMemtraceReader::only_zeros_follow() {
  if (offset_ < zeros_end_) return false;
  zeros_end_ = offset_ + leading_zeros(bytes_.subspan(offset_));
  return zeros_end_ == bytes_.size();
}

Result<bool> MaestroMemtraceReader::next(MemtraceRecord& record) {
  if (reader_.empty()) return false;
  const auto result = read(record);
  // A record that the zeros cut begins with an empty name.
  const bool may_be_padding = result ? is_of_zeros(record) : record.allocator.empty();
  if (may_be_padding && only_zeros_follow()) return false;
  if (!result) {
    if (result.error().code != ErrorCode::kTruncated)
      return fail(result.error().code, "{}", result.error().message);
    return fail(ErrorCode::kTruncated, "the record at offset {:#x} is cut", offset_);
  }
  offset_ = reader_.offset();
  return true;
}

Likeness maestro_memtrace_likeness(const Input& input, const ImportOptions& options) {
  constexpr std::size_t kEnough = 1 << 20;
  const Bytes beginning = input.bytes.first(std::min(input.bytes.size(), kEnough));
  MaestroMemtraceReader reader(beginning);
  MemtraceRecord record;
  std::uint64_t frames = 0;
  bool is_in_kernel = options.kernel_code.empty();
  auto more = reader.next(record);
  for (; more && *more; more = reader.next(record)) {
    if (!is_word(record.allocator)) return Likeness::kNone;
    for (const GuestVirt address : record.frames) {
      if (!is_address(address)) return Likeness::kNone;
      is_in_kernel = is_in_kernel || options.is_kernel_code(address);
    }
    frames += record.frames.size();
  }
  if (!more && more.error().code != ErrorCode::kTruncated) return Likeness::kNone;
  return frames != 0 && is_in_kernel ? Likeness::kFits : Likeness::kNone;
}

Result<Imported> import_maestro_memtrace(std::span<const Input> inputs, const ImportOptions&,
                                         Target& target) {
  const Input& input = inputs.front();
  MaestroMemtraceReader reader(input.bytes);
  MemtraceRecord record;
  auto more = reader.next(record);
  if (!more) return fail(more.error().code, "{}: {}", input.name, more.error().message);
  if (!*more)
    return fail(ErrorCode::kTruncated, "{}: offset 0x0: it {}, and a record should begin",
                input.name, input.bytes.empty() ? "is empty" : "holds zeros only");
  RINGSIDE_ASSIGN(recording::Writer* const writer, create(record, target));
  Import import(*writer);
  std::size_t begins = 0;
  std::size_t released_at = 0;
  for (; more && *more; more = reader.next(record)) {
    RINGSIDE_TRY(import.add(record, begins));
    begins = reader.offset();
    if (begins - released_at < kReleaseBytes) continue;
    if (input.release) input.release();
    released_at = begins;
  }
  return finish(import, input, more, *writer);
}

}  // namespace ringside::importers
