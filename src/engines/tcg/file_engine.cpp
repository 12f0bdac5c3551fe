#include "engines/tcg/file_engine.h"

#include <algorithm>

namespace ringside::engines::tcg {
namespace {

constexpr std::size_t kCapturesPerTick = 256;
constexpr std::size_t kMostMemoryRecords = 4096;

}  // namespace

Result<std::unique_ptr<FileEngine>> FileEngine::open(const std::filesystem::path& path,
                                                     const std::string& name) {
  const std::string shown = name.empty() ? path.string() : name;
  RINGSIDE_ASSIGN(auto file, MappedFile::open(path));
  if (!wire::is_sample_file(file->bytes()))
    return fail(ErrorCode::kFormat, "{}: not a file of ringside's TCG plugin", shown);
  const auto header = wire::read_sample_file_header(file->bytes());
  if (!header)
    return fail(ErrorCode::kFormat,
                "{}: its header is damaged, or of another version of ringside's TCG plugin", shown);
  return std::unique_ptr<FileEngine>(new FileEngine(std::move(file), *header));
}

FileEngine::FileEngine(std::shared_ptr<const MappedFile> file, const wire::SampleFileHeader& header)
    : file_(std::move(file)), header_(header), counted_(header.vcpus) {
  survey();
}

// Goes over all records once: what memory is there, and up to where the file is whole.
void FileEngine::survey() {
  const Bytes bytes = file_->bytes();
  wire::Capture capture;
  end_ = at_;
  while (end_ < bytes.size()) {
    const auto record = wire::read_file_record(bytes.subspan(end_), capture);
    const bool is_wrong =
        !record || record->kind == wire::RecordKind::kEvent ||
        (record->kind == wire::RecordKind::kCapture && capture.vcpu.value >= header_.vcpus) ||
        (record->kind == wire::RecordKind::kCounts && record->counts.vcpu.value >= header_.vcpus);
    if (is_wrong) {
      damage_ = fmt::format(
          "the plugin's file is cut or damaged at byte {}; the {} bytes behind "
          "it are left out",
          end_, bytes.size() - end_);
      return;
    }
    if (record->kind == wire::RecordKind::kMemory && memory_.size() < kMostMemoryRecords) {
      memory_.push_back(record->memory);
      code_pages_.push_back(record->memory.address);
    }
    end_ += record->bytes;
  }
}

Result<void> FileEngine::start(const Pace&) {
  started_ = true;
  return {};
}

// Ticks of which nothing but their number is known.
void FileEngine::add_counts(const wire::VcpuCounts& now, Tick& tick) {
  const auto add = [&](wire::Disposition what, std::uint64_t ticks) {
    if (ticks == 0) return;
    wire::Capture& capture = tick.captures.emplace_back();
    capture.vcpu = now.vcpu;
    capture.arch = arch();
    capture.disposition = what;
    capture.host_time_ns = now.time_ns;
    capture.weight = ticks;
    counts_.due += ticks;
  };
  // Counts only grow; those of a damaged file must not wrap.
  const auto since = [](std::uint64_t before, std::uint64_t after) {
    return after > before ? after - before : 0;
  };
  const wire::VcpuCounts& before = counted_[now.vcpu.value];
  add(wire::Disposition::kIdle, since(before.idle, now.idle));
  add(wire::Disposition::kSkipped, since(before.skipped, now.skipped));
  const std::uint64_t lost_before = counts_.lost();
  counts_.stolen += since(before.stolen, now.stolen);
  counts_.ring_full += since(before.lost, now.lost);
  counts_.delayed += since(before.delayed, now.delayed);
  counts_.due += counts_.lost() - lost_before;
  counted_[now.vcpu.value] = now;
}

Result<Tick> FileEngine::tick(const TickPlan&) {
  Tick tick;
  if (!started_) return tick;
  if (at_ >= end_) return fail(ErrorCode::kClosed, "the plugin's file has ended");
  const Bytes bytes = file_->bytes();
  while (at_ < end_ && tick.captures.size() < kCapturesPerTick) {
    wire::Capture capture;
    const auto record = wire::read_file_record(bytes.subspan(at_), capture);
    // Read once already; but a file may change.
    if (!record) return fail(ErrorCode::kFormat, "the plugin's file has changed");
    at_ += record->bytes;
    if (record->kind == wire::RecordKind::kCounts && record->counts.vcpu.value < counted_.size()) {
      add_counts(record->counts, tick);
    } else if (record->kind == wire::RecordKind::kCapture) {
      counts_.due += capture.weight;
      tick.captures.push_back(std::move(capture));
    }
  }
  std::stable_sort(tick.captures.begin(), tick.captures.end(),
                   [](const wire::Capture& a, const wire::Capture& b) {
                     return a.host_time_ns < b.host_time_ns;
                   });
  return tick;
}

Result<arch::Registers> FileEngine::read_registers(VcpuId) {
  return fail(ErrorCode::kUnsupported, "the guest is gone");
}

Result<PhysicalMemory*> FileEngine::physical_memory() {
  return fail(ErrorCode::kUnsupported, "the guest is gone");
}

// The newest of what was stored.
Result<std::size_t> FileEngine::read_virtual(VcpuId, GuestVirt address,
                                             std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const GuestVirt at = address + done;
    const auto found = std::find_if(
        memory_.rbegin(), memory_.rend(),
        [at](const wire::MemoryAt& piece) { return at - piece.address < piece.memory.size(); });
    if (found == memory_.rend()) break;
    const Bytes rest = found->memory.subspan(at - found->address);
    const std::size_t size = std::min(rest.size(), destination.size() - done);
    std::copy_n(rest.begin(), size, destination.begin() + static_cast<std::ptrdiff_t>(done));
    done += size;
  }
  return done;
}

}  // namespace ringside::engines::tcg
