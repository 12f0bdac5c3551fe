#include "guestos/linux/address_spaces.h"

#include <algorithm>
#include <vector>

#include "base/least_recent.h"
#include "guestos/linux/mappings.h"

namespace ringside::guestos {
namespace {

constexpr std::size_t kMaxKnown = 8192;
// A process that cannot be read so many times is left alone.
constexpr unsigned kTries = 8;

}  // namespace

Result<std::uint64_t> LinuxAddressSpaces::find(const TaskView& task, const wire::Capture& capture,
                                               GuestMemory& memory, ProcessNews& news) {
  if (known_.size() >= kMaxKnown && !known_.contains(task.space)) forget_least_recent(known_);
  Known& known = known_[task.space];
  known.last_use = ++uses_;
  if (known.id != 0 || known.tries == kTries) return known.id;
  ++known.tries;
  RINGSIDE_ASSIGN(auto space, read(task, capture, memory));
  if (!space) return std::uint64_t{0};
  known.id = space->id = ids_->next();
  news.spaces.push_back(std::move(*space));
  return known.id;
}

// Nothing where the guest has changed it meanwhile.
Result<std::optional<AddressSpaceNews>> LinuxAddressSpaces::read(const TaskView& task,
                                                                 const wire::Capture& capture,
                                                                 GuestMemory& memory) {
  const KernelReader reader(memory, types_.arch);
  auto mappings = read_mappings(types_, reader, {task.space[0]});
  if (!mappings && is_of_memory(mappings.error().code)) return std::nullopt;
  if (!mappings) return tl::unexpected(mappings.error());
  AddressSpaceNews space;
  space.arch = types_.arch;
  for (const LinuxMapping& mapping : *mappings) {
    if (!mapping.executable()) continue;
    RINGSIDE_ASSIGN(auto image, images_.find(mapping, task.task, capture, memory));
    if (image) space.mappings.push_back({mapping.start, mapping.end, mapping.offset, image});
  }
  RINGSIDE_ASSIGN(const bool unchanged, is_unchanged(task.space, memory));
  if (!unchanged) return std::nullopt;
  return space;
}

Result<bool> LinuxAddressSpaces::is_unchanged(const Key& key, GuestMemory& memory) const {
  const KernelReader reader(memory, types_.arch);
  const std::array fields{types_.mm.pgd, types_.mm.exec_vm, types_.mm.start_code,
                          types_.mm.start_stack};
  std::uint32_t end = 0;
  for (const Field& field : fields) end = std::max(end, field.end());
  const auto mm = reader.object({key[0]}, end, "struct mm_struct");
  if (!mm && is_of_memory(mm.error().code)) return false;
  if (!mm) return tl::unexpected(mm.error());
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (mm->number(fields[i]) != key[i + 1]) return false;
  return true;
}

}  // namespace ringside::guestos
