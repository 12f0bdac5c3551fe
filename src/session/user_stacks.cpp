#include "session/user_stacks.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <vector>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "arch/x86.h"
#include "base/least_recent.h"
#include "session/recorded_image.h"
#include "unwind/walked_stack.h"

namespace ringside::session {
namespace {

// Limit on address spaces that are remembered: some megabytes. A guest has fewer processes at a
// time.
constexpr std::size_t kMaxSpaces = 16384;

// From the linked addresses of a file to where it is mapped. A file that could not be read has the
// places in it for addresses.
std::uint64_t load_bias(const guestos::UserMapping& mapping) {
  if (mapping.image->file)
    for (const elf::Segment& segment : mapping.image->file->segments()) {
      // A mapping begins at the page that the segment begins in.
      const std::uint64_t page = segment.offset.value & ~std::uint64_t{0xfff};
      if (mapping.offset.value < page ||
          mapping.offset.value >= segment.offset.value + segment.file_size)
        continue;
      if (!segment.executable) continue;
      return mapping.start.value -
             (segment.address.value + mapping.offset.value - segment.offset.value);
    }
  return mapping.start.value - mapping.offset.value;
}

}  // namespace

Result<void> UserStacks::adopt(const guestos::ProcessUpdates& updates, std::uint64_t time_ns) {
  for (const guestos::ThreadNameUpdate& name : updates.names)
    RINGSIDE_TRY(writer_->add_thread_name(
        {time_ns, name.pid, name.tid, name.address_space,
         name.is_number ? recording::unnamed_process(name.pid) : name.name, name.cgroup}));
  for (const guestos::AddressSpaceUpdate& space : updates.spaces) {
    RINGSIDE_ASSIGN(spaces_[space.id], make_space(space));
    if (spaces_.size() > kMaxSpaces) forget_least_recent(spaces_);
    if (new_bytes_ > max_bytes_ / 2) forget_files();
  }
  return {};
}

Result<UserStacks::Space> UserStacks::make_space(const guestos::AddressSpaceUpdate& updates) {
  std::vector<unwind::UserCode::Range> ranges;
  for (const guestos::UserMapping& mapping : updates.mappings) {
    RINGSIDE_ASSIGN(const std::uint32_t id, write_once(mapping.image));
    ranges.push_back({mapping.start, mapping.end, load_bias(mapping), id, mapping.image->file});
  }
  return Space{updates.arch, unwind::UserCode(std::move(ranges)), updates.is_complete, ++uses_};
}

Result<std::uint32_t> UserStacks::write_once(
    const std::shared_ptr<const guestos::UserImage>& image) {
  if (const auto written = images_.find(image); written != images_.end()) return written->second;
  std::erase_if(images_, [](const auto& written) { return written.first.expired(); });
  RINGSIDE_ASSIGN(const std::uint32_t id, write_user_image(*image, *writer_));
  images_.emplace(image, id);
  if (image->file) new_bytes_ += image->file->memory_use();
  return id;
}

void UserStacks::forget_files() {
  std::vector<Space*> newest_first;
  for (auto& [id, space] : spaces_) newest_first.push_back(&space);
  std::sort(newest_first.begin(), newest_first.end(),
            [](const Space* a, const Space* b) { return a->last_use > b->last_use; });
  std::unordered_set<const elf::ElfFile*> kept;
  std::size_t bytes = 0;
  for (Space* space : newest_first) {
    std::unordered_set<const elf::ElfFile*> more;
    std::size_t more_bytes = 0;
    for (const unwind::UserCode::Range& range : space->code.ranges())
      if (range.file && !kept.contains(range.file.get()) && more.insert(range.file.get()).second)
        more_bytes += range.file->memory_use();
    if (!kept.empty() && bytes + more_bytes > max_bytes_ / 2) {
      space->code.forget_files();
      continue;
    }
    kept.merge(more);
    bytes += more_bytes;
  }
  new_bytes_ = 0;
}

bool UserStacks::may_enter_from(std::uint64_t address_space, GuestVirt pc,
                                bool by_system_call) const {
  const auto space = spaces_.find(address_space);
  if (space == spaces_.end()) return false;
  const unwind::UserCode::Range* range = space->second.code.find(pc);
  if (range == nullptr || !range->file || range->file->arch() != Arch::kX86_64 || !by_system_call)
    return range != nullptr;
  constexpr std::array kSyscall = {std::byte{0x0f}, std::byte{0x05}};
  const Bytes before =
      range->file->bytes_at(range->to_image(pc - kSyscall.size()), kSyscall.size());
  return std::equal(before.begin(), before.end(), kSyscall.begin(), kSyscall.end());
}

std::optional<Stack> UserStacks::unwind(const wire::Capture& capture,
                                        const guestos::TaskAttribution& attribution) {
  const bool in_user_code = capture.level == PrivilegeLevel::kUser;
  if (!in_user_code && !attribution.user) return std::nullopt;
  const auto space = spaces_.find(attribution.address_space);
  if (space == spaces_.end()) return std::nullopt;
  Space& known = space->second;
  known.last_use = ++uses_;
  const Arch arch = attribution.user_arch.value_or(known.arch);
  const arch::Registers& captured = in_user_code ? capture.registers : *attribution.user;
  const GuestVirt pc{captured.get(arch::roles_of(capture.arch).pc)};
  if (!known.is_complete && known.code.find(pc) == nullptr) return std::nullopt;
  const bool is_32_bit = arch == Arch::kI386 && capture.arch == Arch::kX86_64;
  return unwinder_.unwind(arch, is_32_bit ? arch::low_halves(captured) : captured, capture,
                          known.code);
}

// In the linked addresses of images, as unwind() has them.
std::optional<Stack> UserStacks::walked(const wire::Capture& capture,
                                        const guestos::TaskAttribution& attribution) {
  auto stack = unwind::walked_user_stack(capture);
  const auto space = spaces_.find(attribution.address_space);
  if (!stack || space == spaces_.end()) return stack;
  space->second.last_use = ++uses_;
  for (Frame& frame : stack->frames) {
    const auto* const range = space->second.code.find(frame.lookup_address());
    if (range == nullptr) continue;
    frame.address = {range->to_image(frame.address).value};
    frame.image = range->image;
  }
  return stack;
}

}  // namespace ringside::session
