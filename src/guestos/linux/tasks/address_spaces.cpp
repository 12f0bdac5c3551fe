#include "guestos/linux/tasks/address_spaces.h"

#include <unordered_map>

#include "base/least_recent.h"
#include "guestos/linux/files/mappings.h"

namespace ringside::guestos {
namespace {

constexpr std::size_t kMaxKnown = 8192;
constexpr std::size_t kMaxPrograms = 4096;
// A process that cannot be read so many times is left alone.
constexpr unsigned kTries = 8;

// Where files begin in memory, by their struct file.
std::unordered_map<std::uint64_t, GuestVirt> headers_of(const std::vector<LinuxMapping>& mappings) {
  std::unordered_map<std::uint64_t, GuestVirt> headers;
  for (const LinuxMapping& mapping : mappings)
    if (mapping.file.value != 0 && mapping.offset.value == 0)
      headers.try_emplace(mapping.file.value, mapping.start);
  return headers;
}

}  // namespace

Result<std::uint64_t> LinuxAddressSpaces::find(const TaskView& task, GuestMemory& memory,
                                               ProcessUpdates& updates) {
  const Key key{task.space, task.program};
  if (known_.size() >= kMaxKnown && !known_.contains(key)) forget_least_recent(known_);
  Known& known = known_[key];
  known.last_use = ++uses_;
  if (known.is_complete || known.tries == kTries) return known.id;
  ++known.tries;
  RINGSIDE_ASSIGN(auto space, read(task, memory));
  known.is_complete = space.has_value();
  if (space)
    remember_program(task, *space);
  else if (known.id == 0)
    space = by_program(task);
  if (!space) return known.id;
  known.id = space->id = ids_->next();
  updates.spaces.push_back(std::move(*space));
  return known.id;
}

void LinuxAddressSpaces::remember_program(const TaskView& task, const AddressSpaceUpdate& space) {
  const auto image = task.program ? images_.known(*task.program) : nullptr;
  if (!image) return;
  Program program{.start_code = task.space[3], .mappings = {}, .last_use = ++uses_};
  for (const UserMapping& mapping : space.mappings)
    if (mapping.image == image)
      program.mappings.push_back({mapping.start, mapping.end, mapping.offset, nullptr});
  if (program.mappings.empty()) return;
  if (programs_.size() >= kMaxPrograms) forget_least_recent(programs_);
  programs_[{*task.program, task.space[2]}] = std::move(program);
}

std::optional<AddressSpaceUpdate> LinuxAddressSpaces::by_program(const TaskView& task) {
  if (!task.program) return std::nullopt;
  const auto known = programs_.find({*task.program, task.space[2]});
  if (known == programs_.end()) return std::nullopt;
  const auto image = images_.known(*task.program);
  if (!image) return std::nullopt;
  Program& program = known->second;
  program.last_use = ++uses_;
  const std::uint64_t distance = task.space[3] - program.start_code;
  if (distance % types_.page_size != 0) return std::nullopt;
  AddressSpaceUpdate space;
  space.arch = types_.arch;
  space.is_complete = false;
  for (UserMapping mapping : program.mappings) {
    mapping.start = mapping.start + distance;
    mapping.end = mapping.end + distance;
    mapping.image = image;
    if (mapping.start >= mapping.end) return std::nullopt;
    space.mappings.push_back(std::move(mapping));
  }
  return space;
}

// Nothing where the guest has changed it meanwhile.
Result<std::optional<AddressSpaceUpdate>> LinuxAddressSpaces::read(const TaskView& task,
                                                                   GuestMemory& memory) {
  const KernelReader reader(memory.kernel(), types_.arch);
  // Most often the process has ended.
  RINGSIDE_ASSIGN(const auto is_there, read_space(task, reader));
  if (!is_there) return std::nullopt;
  auto mappings = read_mappings(types_, reader, {task.space[0]});
  if (!mappings && is_of_memory(mappings.error().code)) return std::nullopt;
  if (!mappings) return tl::unexpected(mappings.error());
  AddressSpaceUpdate space;
  space.arch = types_.arch;
  const auto headers = headers_of(*mappings);
  for (const LinuxMapping& mapping : *mappings) {
    if (!mapping.executable()) continue;
    const auto header = headers.find(mapping.file.value);
    RINGSIDE_ASSIGN(
        auto image,
        images_.find(mapping,
                     header == headers.end() ? std::nullopt : std::optional(header->second), task,
                     memory));
    if (image) space.mappings.push_back({mapping.start, mapping.end, mapping.offset, image});
  }
  RINGSIDE_ASSIGN(const bool unchanged, is_unchanged(task, reader));
  if (!unchanged) return std::nullopt;
  return space;
}

Result<std::optional<KernelObject>> LinuxAddressSpaces::read_space(const TaskView& task,
                                                                   const KernelReader& read) const {
  const std::array fields{types_.mm.pgd, types_.mm.exec_vm, types_.mm.start_code,
                          types_.mm.start_stack};
  auto mm = read.object({task.space[0]}, types_.mm.bytes, "struct mm_struct");
  if (!mm && is_of_memory(mm.error().code)) return std::nullopt;
  if (!mm) return tl::unexpected(mm.error());
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (mm->number(fields[i]) != task.space[i + 1]) return std::nullopt;
  return std::move(*mm);
}

Result<bool> LinuxAddressSpaces::is_unchanged(const TaskView& task,
                                              const KernelReader& reader) const {
  RINGSIDE_ASSIGN(const auto mm, read_space(task, reader));
  if (!mm) return false;
  if (!task.program) return true;
  const auto program = read_file_identity(types_, reader, mm->pointer(types_.mm.exe_file));
  if (!program && is_of_memory(program.error().code)) return false;
  if (!program) return tl::unexpected(program.error());
  return *program == *task.program;
}

}  // namespace ringside::guestos
