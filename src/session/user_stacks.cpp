#include "session/user_stacks.h"

#include <vector>

#include "base/least_recent.h"
#include "session/recorded_image.h"
#include "wire/execution_mode.h"

namespace ringside::session {
namespace {

// Of address spaces that are remembered: some megabytes. A guest has fewer processes at a time.
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

Result<void> UserStacks::adopt(const guestos::ProcessNews& news, std::uint64_t time_ns) {
  for (const guestos::ThreadNameNews& name : news.names)
    RINGSIDE_TRY(writer_->add_thread_name(
        {time_ns, name.pid, name.tid, name.address_space, name.name, name.cgroup}));
  for (const guestos::AddressSpaceNews& space : news.spaces) {
    RINGSIDE_ASSIGN(spaces_[space.id], make_space(space));
    if (spaces_.size() > kMaxSpaces) forget_least_recent(spaces_);
  }
  return {};
}

Result<UserStacks::Space> UserStacks::make_space(const guestos::AddressSpaceNews& news) {
  std::vector<unwind::UserCode::Range> ranges;
  for (const guestos::UserMapping& mapping : news.mappings) {
    RINGSIDE_ASSIGN(const std::uint32_t id, write_once(mapping.image));
    ranges.push_back({mapping.start, mapping.end, load_bias(mapping), id, mapping.image->file});
  }
  return Space{news.arch, unwind::UserCode(std::move(ranges)), news.is_complete, ++uses_};
}

Result<std::uint32_t> UserStacks::write_once(
    const std::shared_ptr<const guestos::UserImage>& image) {
  Written& written = images_[image.get()];
  if (written.id == 0) {
    RINGSIDE_ASSIGN(written.id, write_user_image(*image, *writer_));
    written.image = image;
  }
  return written.id;
}

std::optional<Stack> UserStacks::unwind(const wire::Capture& capture, const guestos::Owner& owner) {
  const bool in_user_code = capture.level == PrivilegeLevel::kUser;
  if (!in_user_code && !owner.user) return std::nullopt;
  const auto space = spaces_.find(owner.address_space);
  if (space == spaces_.end()) return std::nullopt;
  Space& known = space->second;
  known.last_use = ++uses_;
  const Arch arch = owner.user_arch.value_or(known.arch);
  const wire::Registers& captured = in_user_code ? capture.registers : *owner.user;
  const GuestVirt pc{captured.get(wire::roles_of(capture.arch).pc)};
  if (!known.is_complete && known.code.find(pc) == nullptr) return std::nullopt;
  const bool is_32_bit = arch == Arch::kI386 && capture.arch == Arch::kX86_64;
  return unwinder_.unwind(arch, is_32_bit ? wire::low_halves(captured) : captured, capture,
                          known.code);
}

}  // namespace ringside::session
