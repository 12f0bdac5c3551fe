#include "session/guest_view.h"

#include "arch/execution_mode.h"
#include "memory/aarch64/page_walk.h"
#include "memory/page_tables.h"
#include "session/kernel/kernel_tables.h"

namespace ringside::session {
namespace {

// The address space that a vCPU is in at the moment of each read, by the engine.
class VcpuSpace final : public guestos::GuestSpace {
 public:
  VcpuSpace(engines::Engine& engine, VcpuId vcpu) : memory_(engine.virtual_memory(vcpu)) {}
  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt address,
                                               std::span<std::byte> destination) override {
    return memory_.read_up_to(address, destination);
  }

 private:
  engines::VcpuMemory memory_;
};

}  // namespace

GuestView::GuestView(engines::Engine& engine) : engine_(&engine) { probe_physical(); }

void GuestView::probe_physical() {
  const auto physical = engine_->physical_memory();
  physical_ = physical ? *physical : nullptr;
  why_not_physical_ = physical ? std::string() : physical.error().message;
}

Result<bool> GuestView::adopt(const wire::Capture& running, std::optional<GuestVirt> root) {
  running_ = running;
  by_vcpu_ = std::make_unique<VcpuSpace>(*engine_, running.vcpu);
  if (physical_ == nullptr) probe_physical();
  if (physical_ == nullptr) return false;
  RINGSIDE_ASSIGN(auto tables, find_kernel_tables(*engine_, running, *physical_));
  if (!tables) return false;
  read_by(std::move(tables));
  return root ? take_own_root(*root) : Result<bool>(true);
}

std::unique_ptr<memory::PageTables> GuestView::tables_of_kernel(GuestPhys root) const {
  using memory::aarch64::StageOneTables;
  if (const auto* used = dynamic_cast<const StageOneTables*>(&by_tables_->tables())) {
    StageOneTables::Roots roots = used->roots();
    roots.ttbr1 = root.value;
    return std::make_unique<StageOneTables>(roots);
  }
  return memory::page_tables_of(running_->arch,
                                arch::with_user_root(running_->arch, running_->registers, root));
}

Result<bool> GuestView::take_own_root(GuestVirt root) {
  RINGSIDE_ASSIGN(const auto place, by_tables_->physical_address(root));
  if (!place) return false;
  auto own = tables_of_kernel(*place);
  if (!own) return false;
  // It is the kernel's only if it maps the very table.
  RINGSIDE_ASSIGN(const auto again, own->walk(*physical_, root));
  if (again.end != memory::WalkEnd::kMapped || again.address != *place) return false;
  read_by(std::move(own));
  return true;
}

void GuestView::forget() {
  if (by_tables_) by_tables_->forget_tables();
}

guestos::GuestSpace& GuestView::kernel() {
  if (by_tables_) return *by_tables_;
  return *by_vcpu_;
}

void GuestView::read_by(std::unique_ptr<memory::PageTables> tables) {
  by_tables_ = std::make_unique<PagedSpace>(std::move(tables), *physical_);
  if (linear_distance_) by_tables_->set_linear_distance(*linear_distance_);
}

void GuestView::set_linear_distance(std::uint64_t distance) {
  linear_distance_ = distance;
  if (by_tables_) by_tables_->set_linear_distance(distance);
}

std::unique_ptr<memory::PageTables> GuestView::tables_of_process(GuestPhys root) const {
  using memory::aarch64::StageOneTables;
  if (const auto* kernel = dynamic_cast<const StageOneTables*>(&by_tables_->tables())) {
    StageOneTables::Roots roots = kernel->roots();
    roots.ttbr0 = root.value;
    return std::make_unique<StageOneTables>(roots);
  }
  return memory::page_tables_of(running_->arch,
                                arch::with_user_root(running_->arch, running_->registers, root));
}

Result<std::unique_ptr<guestos::GuestSpace>> GuestView::process_space(GuestVirt root) {
  RINGSIDE_ASSIGN(const auto place, kernel().physical_address(root));
  auto tables = place ? tables_of_process(*place) : nullptr;
  if (!tables) return std::make_unique<guestos::EmptySpace>();
  return std::make_unique<PagedSpace>(std::move(tables), *physical_);
}

std::unique_ptr<memory::PageTables> GuestView::tables_of(const wire::Capture& capture) const {
  if (capture.arch != Arch::kAArch64)
    return memory::page_tables_of(capture.arch, capture.registers);
  // A capture has TTBR0_EL1 only; the rest does not change.
  using memory::aarch64::StageOneTables;
  const auto* kernel =
      by_tables_ ? dynamic_cast<const StageOneTables*>(&by_tables_->tables()) : nullptr;
  if (kernel == nullptr || !capture.registers.has(arch::aarch64::kTtbr0El1)) return nullptr;
  StageOneTables::Roots roots = kernel->roots();
  roots.ttbr0 = capture.registers.get(arch::aarch64::kTtbr0El1);
  return std::make_unique<StageOneTables>(roots);
}

std::unique_ptr<guestos::GuestSpace> GuestView::space_of(const wire::Capture& capture) {
  if (physical_ == nullptr) return std::make_unique<VcpuSpace>(*engine_, capture.vcpu);
  auto tables = tables_of(capture);
  if (!tables) return std::make_unique<guestos::EmptySpace>();
  return std::make_unique<PagedSpace>(std::move(tables), *physical_);
}

}  // namespace ringside::session
