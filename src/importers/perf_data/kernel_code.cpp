#include "importers/perf_data/kernel_code.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "symbols/symbol_file.h"

namespace ringside::importers::perf_data {
namespace {

constexpr std::size_t kMostName = 512;  // bytes
constexpr std::size_t kMostPath = 4096;

constexpr std::string_view kHostPath = "[kernel.kallsyms]";
constexpr std::string_view kGuestPath = "[guest.kernel.kallsyms";  // "]" or ".PID]" follows

// The part behind the brackets: "[kernel.kallsyms]_text".
std::string_view reference_of(std::string_view path) {
  const std::size_t end = path.find(']');
  return end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
}

// "[foo]" and "/lib/modules/6.1.0/kernel/fs/foo.ko.xz".
std::string module_name(std::string_view path) {
  std::string_view name = path;
  if (name.starts_with('[')) {
    name = name.substr(1, name.find(']') - 1);
  } else {
    name = name.substr(name.rfind('/') + 1);
    const std::size_t end = name.find(".ko");
    if (end != 0) name = name.substr(0, end);
  }
  std::string text(name.substr(0, kMostName));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

// The range of the map that holds the address, of ranges that may overlap a little.
template <class Ranges>
auto find_in(Ranges& ranges, std::uint64_t address) {
  auto behind = ranges.upper_bound(address);
  if (behind == ranges.begin()) return ranges.end();
  --behind;
  return address < behind->second.end ? behind : ranges.end();
}

}  // namespace

bool is_kernel_path(std::string_view path) {
  return path.starts_with(kHostPath) || path.starts_with(kGuestPath);
}

void KernelCode::map(const MapRecord& record, std::uint64_t time_ns) {
  if (record.size == 0 || maps_.size() >= kMostMaps) return;
  const auto there = maps_.find(record.start);
  Map map;
  map.end = record.start + std::min(record.size, ~record.start);
  map.is_kernel = is_kernel_path(record.path);
  map.valid_from_ns = time_ns;
  if (map.is_kernel && !names_) {
    kernel_.is_guest = is_guest_;
    kernel_.reference = reference_of(record.path);
    kernel_.reference_at = record.file_offset;
    if (!record.build_id.empty())
      kernel_.build_id.assign(record.build_id.begin(), record.build_id.end());
  }
  if (!map.is_kernel) {
    map.module = module_name(record.path);
    map.path = record.path.substr(0, kMostPath);
  }
  if (there != maps_.end() && there->second.module == map.module &&
      there->second.is_kernel == map.is_kernel && there->second.end >= map.end)
    return;
  maps_.insert_or_assign(record.start, std::move(map));
  ++version_;
}

void KernelCode::add(const KsymbolRecord& record) {
  ++version_;
  if (record.is_gone) {
    made_.erase(record.address);
    return;
  }
  if (made_.size() >= kMostSymbols || record.size == 0) return;
  made_.insert_or_assign(record.address, Made{record.address + record.size,
                                              std::string(record.name.substr(0, kMostName))});
}

void KernelCode::find_build_id() {
  if (!kernel_.build_id.empty()) return;
  const auto known =
      std::find_if(features_.build_ids.begin(), features_.build_ids.end(), [&](const auto& entry) {
        return entry.first.starts_with(is_guest_ ? kGuestPath : kHostPath);
      });
  if (known != features_.build_ids.end()) kernel_.build_id = known->second;
}

std::optional<std::uint64_t> KernelCode::adopt_given(std::vector<std::string>& warnings) {
  has_given_ = !options_.kernel_code.empty();
  if (!options_.kernel) return std::nullopt;
  find_build_id();
  const Bytes own = options_.kernel->build_id();
  const std::vector<std::byte>& recorded = kernel_.build_id;
  if (!own.empty() && !recorded.empty() &&
      !std::equal(own.begin(), own.end(), recorded.begin(), recorded.end())) {
    warnings.push_back(
        fmt::format("{} is not the kernel that was recorded, and is not used: its build id is {}, "
                    "the recorded one's {}",
                    options_.kernel->name(), hex_text(own), hex_text(recorded)));
    has_given_ = false;
    return std::nullopt;
  }
  if (options_.kernel_load_bias || kernel_.reference.empty()) return std::nullopt;
  const auto reference = options_.kernel->symbol_named(kernel_.reference);
  if (!reference) return std::nullopt;
  given_moved_ = kernel_.reference_at - reference->address.value;
  return given_moved_;
}

bool KernelCode::is_given(std::uint64_t address) const {
  return has_given_ && options_.is_kernel_code(GuestVirt{address - given_moved_});
}

KernelNames& KernelCode::names() {
  if (names_) return *names_;
  find_build_id();
  names_.emplace(kernel_, features_, files_);
  extend_kernel(names_->end());
  return *names_;
}

// Up to what comes behind it.
void KernelCode::extend_kernel(std::uint64_t end) {
  for (auto map = maps_.begin(); map != maps_.end(); ++map) {
    if (!map->second.is_kernel || map->second.end >= end) continue;
    const auto next = std::next(map);
    map->second.end =
        std::max(map->second.end, next == maps_.end() ? end : std::min(end, next->first));
  }
}

ImageFiles::ElfPointer KernelCode::describe(std::uint64_t start, const Map& map,
                                            recording::ImageInfo& info) {
  info.name = map.is_kernel ? name_ : map.module;
  info.arch = features_.arch;
  ImageFiles::ElfPointer file;
  if (map.is_kernel) {
    file = names().file();
    info.build_id = kernel_.build_id;
    info.load_bias = names().load_bias();
    for (const auto& [at, other] : maps_)
      if (other.is_kernel) info.size = std::max(info.size, other.end - at);
  } else if (const auto known = features_.build_ids.find(map.path);
             known != features_.build_ids.end()) {
    file = files_.module(known->second);
    info.build_id = known->second;
    if (file)
      for (const elf::Segment& segment : file->segments())
        if (segment.executable) info.load_bias = start - segment.address.value;
  }
  if (file) {
    info.path = file->name();
    info.arch = file->arch();
  }
  return file;
}

Result<std::uint32_t> KernelCode::image_of(std::uint64_t start, const Map& map) {
  const auto known = images_.find(map.module);
  if (known != images_.end()) return known->second;
  recording::ImageInfo info;
  const ImageFiles::ElfPointer file = describe(start, map, info);
  RINGSIDE_ASSIGN(const std::uint32_t id, writer_->add_image(info));
  images_.emplace(map.module, id);
  // The file may be gone when the recording is read.
  if (file)
    RINGSIDE_TRY(
        writer_->add_blob({recording::kKeptSymbolsBlob, id, symbols::pack_symbols(*file)}));
  if (map.is_kernel) RINGSIDE_TRY(names().record_some(id, *writer_));
  return id;
}

Result<void> KernelCode::record(std::uint64_t start, Map& map) {
  RINGSIDE_ASSIGN(map.image, image_of(start, map));
  recording::Mapping mapping;
  mapping.image = map.image;
  mapping.start = GuestVirt{start};
  mapping.end = GuestVirt{map.end};
  mapping.valid_from_ns = map.valid_from_ns;
  RINGSIDE_ASSIGN(map.mapping, writer_->add_mapping(mapping));
  return {};
}

Result<recording::RecordedFrame> KernelCode::frame_at(std::uint64_t address, bool exact) {
  recording::RecordedFrame frame;
  frame.address = GuestVirt{address};
  frame.exact = exact;
  frame.source = exact ? FrameSource::kRegisters : FrameSource::kFramePointer;
  frame.kind = FrameKind::kKernel;
  const std::uint64_t at = frame.lookup_address().value;
  if (const auto made = find_in(made_, at); made != made_.end()) {
    Made& code = made->second;
    if (code.text == 0) {
      RINGSIDE_ASSIGN(code.text, writer_->add_text(code.name));
    }
    if (made_image_ == 0) {
      recording::ImageInfo info;
      info.name = "bpf";
      info.arch = features_.arch;
      RINGSIDE_ASSIGN(made_image_, writer_->add_image(info));
    }
    frame.function = code.text;
    frame.image = made_image_;
    return frame;
  }
  if (maps_.empty() || is_given(at)) return frame;
  KernelNames& names = this->names();
  const auto found = find_in(maps_, at);
  if (found == maps_.end()) return frame;
  Map& map = found->second;
  if (map.image == 0) RINGSIDE_TRY(record(found->first, map));
  frame.image = map.image;
  frame.mapping = map.mapping;
  RINGSIDE_TRY(
      names.record(map.module, at, map.image, map.is_kernel ? names.load_bias() : 0, *writer_));
  return frame;
}

}  // namespace ringside::importers::perf_data
