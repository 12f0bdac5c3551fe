#include "guestos/root_processes.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::guestos {
namespace {

// Far more than kernels without another adapter have processes.
constexpr std::size_t kMostSpaces = 8 * 1024;
constexpr std::size_t kMostListed = 5;
// Kernels with page-table isolation run little of their code with a root that user code has: that
// which changes it. In pages of code that were sampled.
constexpr std::size_t kEnoughKernelCode = 8;
constexpr std::size_t kFew = 4;
constexpr std::size_t kMostKernelCode = 256;
constexpr std::uint64_t kPartnerIntervalNs = 100'000'000;
constexpr std::size_t kMostTried = 32;  // spaces in one look

using Programs = std::vector<std::shared_ptr<const UserImage>>;

std::string list_of(const std::set<std::uint32_t>& pids) {
  std::vector<std::string> names;
  for (const std::uint32_t pid : pids) {
    if (names.size() == kMostListed) break;
    names.push_back(fmt::format("{}", pid));
  }
  std::string list =
      fmt::format("{} {}", pids.size() == 1 ? "process" : "processes", fmt::join(names, ", "));
  if (pids.size() > names.size()) list += fmt::format(" and {} more", pids.size() - names.size());
  return list;
}

}  // namespace

RootProcesses::RootProcesses(const AdapterOptions& options)
    : ids_(options.address_space_ids), files_(options.programs != nullptr) {
  Programs all;
  if (options.programs) all = options.programs->all();
  if (options.user_program) all.push_back(options.user_program);
  from_ = options.user_program ? "--user-elf " + options.user_program->file->name() : "--programs";
  if (!all.empty()) finder_ = std::make_unique<ProgramFinder>(all);
  for (const RootProgram& process : options.processes)
    by_root_.insert_or_assign(
        process.root,
        Named{process.program, std::make_unique<ProgramFinder>(Programs{process.program}),
              fmt::format("--process {:x}={}:{}", process.root, process.program->name,
                          process.program->file->name())});
}

Result<TaskAttribution> RootProcesses::attribute(const wire::Capture& capture, std::uint64_t root,
                                                 GuestMemory& memory, ProcessUpdates& updates) {
  const auto found = by_root_.find(root);
  const Named* const named = found == by_root_.end() ? nullptr : &found->second;
  const bool is_user = capture.level == PrivilegeLevel::kUser;
  if (!is_user && named == nullptr) {
    const auto known = spaces_.find(root);
    note_kernel_code(capture, known != spaces_.end());
    if (known != spaces_.end()) return known->second.attribution;
    RINGSIDE_ASSIGN(const Space* const partner, partner_of(capture, root, memory));
    return partner != nullptr ? partner->attribution : TaskAttribution();
  }
  if (!spaces_.contains(root) && spaces_.size() >= kMostSpaces) spaces_.clear();
  Space& space = spaces_[root];
  bool is_new_program = false;
  if (is_user) {
    RINGSIDE_ASSIGN(is_new_program, poll(space, named, capture, memory));
  }
  report(space, named, is_new_program, updates);
  if (is_user) note(space, named);
  return space.attribution;
}

// Whether the space's program is another one than before.
Result<bool> RootProcesses::poll(Space& space, const Named* named, const wire::Capture& capture,
                                 GuestMemory& memory) {
  using Update = RootProcess::Update;
  ProgramFinder* const finder = named != nullptr ? named->finder.get() : finder_.get();
  if (!memory.reads_processes()) {
    if (finder == nullptr || finder->only() == nullptr || space.process.program()) return false;
    could_not_compare_.insert(named != nullptr ? named->given : from_);
    space.process.believe(finder->only());
    return true;
  }
  const std::uint8_t pc_register = arch::roles_of(capture.arch).pc;
  if (!capture.registers.has(pc_register)) return false;
  const GuestVirt pc{capture.registers.get(pc_register)};
  const auto process = memory.space_of(capture);
  if (!space.stack_at) {
    space.stack = GuestVirt{capture.registers.get(arch::roles_of(capture.arch).sp)};
    RINGSIDE_ASSIGN(space.stack_at, process->physical_address(space.stack));
  }
  RINGSIDE_ASSIGN(Update reported, space.process.poll(pc, capture.host_time_ns, finder, *process));
  if (reported == Update::kEnded) {
    space = {};
    RINGSIDE_ASSIGN(reported, space.process.poll(pc, capture.host_time_ns, finder, *process));
  }
  return reported == Update::kProgram;
}

void RootProcesses::note_kernel_code(const wire::Capture& capture, bool in_users_root) {
  const std::uint8_t pc = arch::roles_of(capture.arch).pc;
  if (capture.level != PrivilegeLevel::kKernel || !capture.registers.has(pc)) return;
  auto& pages = in_users_root ? kernel_in_users_roots_ : kernel_elsewhere_;
  if (pages.size() < kMostKernelCode) pages.insert(capture.registers.get(pc) / kCodePage);
}

// Both roots map the process's memory, and no other root does so: but that of a child until it
// writes, of which such a kernel's samples are few.
Result<bool> RootProcesses::maps_stack_of(const Space& space, const wire::Capture& capture,
                                          GuestMemory& memory) {
  if (!space.stack_at) return false;
  RINGSIDE_ASSIGN(const auto at, memory.space_of(capture)->physical_address(space.stack));
  return at == space.stack_at;
}

Result<RootProcesses::Space*> RootProcesses::partner_of(const wire::Capture& capture,
                                                        std::uint64_t root, GuestMemory& memory) {
  const bool is_isolated = kernel_elsewhere_.size() >= kEnoughKernelCode &&
                           kernel_in_users_roots_.size() * kFew <= kernel_elsewhere_.size();
  if (!is_isolated || capture.level != PrivilegeLevel::kKernel) return nullptr;
  if (partners_.size() >= kMostSpaces && !partners_.contains(root)) partners_.clear();
  Partner& partner = partners_[root];
  if (capture.host_time_ns >= partner.next_poll_ns) {
    partner.next_poll_ns = capture.host_time_ns + kPartnerIntervalNs;
    const auto before = partner.root ? spaces_.find(*partner.root) : spaces_.end();
    if (before != spaces_.end()) partner.next_users = before->first;
    partner.root.reset();
    auto next = spaces_.lower_bound(partner.next_users);
    for (std::size_t n = std::min(kMostTried, spaces_.size()); n != 0 && !partner.root; --n) {
      if (next == spaces_.end()) next = spaces_.begin();
      RINGSIDE_ASSIGN(const bool is_it, maps_stack_of(next->second, capture, memory));
      if (is_it) partner.root = next->first;
      partner.next_users = next++->first + 1;
    }
  }
  const auto space = partner.root ? spaces_.find(*partner.root) : spaces_.end();
  return space == spaces_.end() ? nullptr : &space->second;
}

void RootProcesses::report(Space& space, const Named* named, bool is_new_program,
                           ProcessUpdates& updates) {
  const auto& program = space.process.program();
  std::string name;
  if (named != nullptr)
    name = named->program->name;
  else if (program)
    name = program->code->program()->name;
  if (name.empty() && !counts_unnamed_ && !space.attribution.pid) return;
  const bool is_new = !space.attribution.pid;
  // Code that was mapped before is no longer mapped.
  if (is_new || (is_new_program && !program)) space.attribution.address_space = ids_->next();
  // The kernel's own number is not known.
  if (is_new) space.attribution.pid = static_cast<std::uint32_t>(space.attribution.address_space);
  space.attribution.tid = space.attribution.pid;
  if (is_new || name != space.name)
    updates.names.push_back({.pid = *space.attribution.pid,
                             .tid = *space.attribution.tid,
                             .address_space = space.attribution.address_space,
                             .name = name,
                             .is_number = name.empty()});
  space.name = std::move(name);
  if (is_new_program && program)
    updates.spaces.push_back({space.attribution.address_space,
                              program->code->program()->file->arch(),
                              mappings_of(program->code->program(), program->bias)});
}

// For caveats().
void RootProcesses::note(const Space& space, const Named* named) {
  if (!space.attribution.pid || (named == nullptr && !finder_)) return;
  const std::string& given = named != nullptr ? named->given : from_;
  const auto put = [&](bool is_in, std::set<std::uint32_t>& pids) {
    is_in ? (void)pids.insert(*space.attribution.pid) : (void)pids.erase(*space.attribution.pid);
  };
  put(space.process.is_of_no_file(), of_no_file_[given]);
  put(space.process.is_unreadable(), unreadable_[given]);
}

std::vector<std::string> RootProcesses::caveats() const {
  std::vector<std::string> caveats;
  for (const auto& [given, pids] : of_no_file_)
    if (!pids.empty())
      caveats.push_back(fmt::format(
          "{}: {} ran other code than {} holds, so {} functions have no names; give the {} that "
          "the guest runs",
          given, list_of(pids), files_ ? "any file in that folder" : "the file",
          pids.size() == 1 ? "its" : "their", files_ ? "files" : "file"));
  for (const auto& [given, pids] : unreadable_)
    if (!pids.empty())
      caveats.push_back(
          fmt::format("{}: the code of {} could not be read, so it was not compared "
                      "and has no names",
                      given, list_of(pids)));
  for (const std::string& given : could_not_compare_)
    caveats.push_back(fmt::format(
        "{}: the file was not compared with what the guest runs: the engine reads no physical "
        "memory",
        given));
  if (finder_)
    for (const auto& [name, text] : finder_->twins()) caveats.push_back(text);
  return caveats;
}

}  // namespace ringside::guestos
