#include "guestos/emerald_adapter.h"

#include <algorithm>
#include <array>

#include "arch/execution_mode.h"
#include "guestos/emerald/saved_registers.h"

namespace ringside::guestos {
namespace {

using emerald::Metadata;

// While it is found out whether there are metadata pages: reads in all, and of one root, whose page
// may not be there yet.
constexpr unsigned kProbes = 256;
constexpr unsigned kProbesOfARoot = 4;
// For .text that is not all there yet.
constexpr unsigned kTries = 16;
// That are remembered; what comes again afterwards is read again.
constexpr std::size_t kMostProcesses = 8 * 1024;

}  // namespace

EmeraldAdapter::EmeraldAdapter(const AdapterOptions& options, bool is_sure)
    : GenericAdapter(Arch::kX86_64, options),
      programs_(options.programs),
      has_pages_(is_sure),
      probes_left_(is_sure ? 0 : kProbes) {}

std::string_view EmeraldAdapter::name() const {
  return has_pages_ ? "emerald" : GenericAdapter::name();
}

// The page's contents at the capture; read now where the page was not copied with it.
Result<std::optional<Metadata>> EmeraldAdapter::metadata_of(const wire::Capture& capture,
                                                            GuestMemory& memory) {
  if (const wire::MemoryPiece* const page = capture.tagged(emerald::kMetadataTag))
    return emerald::parse_metadata(capture.bytes_of(*page));
  if (!has_pages_) {
    unsigned& probes = probes_[arch::user_root(capture.arch, capture.registers).value_or(0)];
    may_have_pages_ = false;
    if (probes_left_ == 0 || probes == kProbesOfARoot) return std::nullopt;
    ++probes;
    --probes_left_;
    // A process has its page before it first runs, if it has one.
    const bool is_sure = capture.level == PrivilegeLevel::kUser && memory.reads_processes();
    may_have_pages_ = !is_sure && probes < kProbesOfARoot;
  }
  std::array<std::byte, emerald::kMetadataSize> page{};
  RINGSIDE_ASSIGN(const std::size_t count,
                  memory.space_of(capture)->read_up_to(emerald::kMetadataPage, page));
  return emerald::parse_metadata(Bytes(page).first(count));
}

Result<TaskAttribution> EmeraldAdapter::attribute(const wire::Capture& capture, GuestMemory& memory,
                                                  ProcessUpdates& updates) {
  const bool runs_processes =
      capture.arch == Arch::kX86_64 &&
      (capture.level == PrivilegeLevel::kKernel || capture.level == PrivilegeLevel::kUser);
  if (!runs_processes) return GenericAdapter::attribute(capture, memory, updates);
  RINGSIDE_ASSIGN(const auto metadata, metadata_of(capture, memory));
  if (!metadata && (has_pages_ || may_have_pages_)) return TaskAttribution();
  if (!metadata) return GenericAdapter::attribute(capture, memory, updates);
  updates.new_recipes = !has_pages_;
  has_pages_ = true;
  if (known_.size() >= kMostProcesses) known_.clear();
  Process& process =
      known_[{arch::user_root(capture.arch, capture.registers).value_or(0), metadata->identity()}];
  if (process.address_space == 0) RINGSIDE_TRY(learn(*metadata, capture, memory, process, updates));
  TaskAttribution attribution;
  attribution.pid = static_cast<std::uint32_t>(metadata->pid);
  attribution.tid = attribution.pid;
  attribution.address_space = process.address_space;
  if (capture.level == PrivilegeLevel::kKernel)
    attribution.user = emerald::saved_registers(capture, metadata->user_registers);
  attribution.finds_user_by_unwinding =
      capture.level == PrivilegeLevel::kKernel && metadata->user_registers.value == 0;
  return attribution;
}

Result<void> EmeraldAdapter::learn(const Metadata& metadata, const wire::Capture& capture,
                                   GuestMemory& memory, Process& process, ProcessUpdates& updates) {
  RINGSIDE_ASSIGN(auto placed, programs_.poll(metadata, *memory.space_of(capture)));
  if (!placed && ++process.tries < kTries) return {};
  if (!placed) placed = programs_.unreadable(metadata);
  process.address_space = next_address_space();
  const auto pid = static_cast<std::uint32_t>(metadata.pid);
  updates.names.push_back({pid, pid, process.address_space, placed->program->name});
  updates.spaces.push_back({process.address_space, Arch::kX86_64, std::move(placed->mappings)});
  return {};
}

std::vector<wire::RecipeOp> EmeraldAdapter::recipe(VcpuId vcpu, const Learnt& learnt) const {
  auto stacks = GenericAdapter::recipe(vcpu, learnt);
  if (!has_pages_ || arch_ != Arch::kX86_64) return stacks;
  wire::RecipeBuilder process;
  emerald::copy_process(process);
  process.next_recipe();
  auto recipe = process.take();
  recipe.insert(recipe.end(), stacks.begin(), stacks.end());
  return recipe;
}

}  // namespace ringside::guestos
