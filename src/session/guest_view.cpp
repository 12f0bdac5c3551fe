#include "session/guest_view.h"

#include "arch/execution_mode.h"
#include "memory/aarch64/page_walk.h"
#include "memory/page_tables.h"
#include "session/kernel_tables.h"

namespace ringside::session {

GuestView::GuestView(engines::Engine& engine) : engine_(&engine) { probe_physical(); }

void GuestView::probe_physical() {
  const auto physical = engine_->physical_memory();
  physical_ = physical ? *physical : nullptr;
  why_not_physical_ = physical ? std::string() : physical.error().message;
}

Result<bool> GuestView::adopt(const wire::Capture& running, std::optional<GuestVirt> root) {
  running_ = running;
  if (physical_ == nullptr) probe_physical();
  if (physical_ == nullptr) return false;
  RINGSIDE_ASSIGN(auto tables, find_kernel_tables(*engine_, running, *physical_));
  if (!tables) return false;
  tables_ = std::move(tables);
  space_ = std::make_unique<memory::AddressSpace>(*tables_, *physical_);
  return root ? take_own_root(*root) : Result<bool>(true);
}

std::unique_ptr<memory::PageTables> GuestView::tables_of_kernel(GuestPhys root) const {
  using memory::aarch64::StageOneTables;
  if (const auto* used = dynamic_cast<const StageOneTables*>(tables_.get())) {
    StageOneTables::Roots roots = used->roots();
    roots.ttbr1 = root.value;
    return std::make_unique<StageOneTables>(roots);
  }
  return memory::page_tables_of(running_->arch,
                                arch::with_user_root(running_->arch, running_->registers, root));
}

Result<bool> GuestView::take_own_root(GuestVirt root) {
  RINGSIDE_ASSIGN(const auto place, space_->walk(root));
  if (place.end != memory::WalkEnd::kMapped) return false;
  auto own = tables_of_kernel(place.address);
  if (!own) return false;
  // It is the kernel's only if it maps the very table.
  RINGSIDE_ASSIGN(const auto again, own->walk(*physical_, root));
  if (again.end != memory::WalkEnd::kMapped || again.address != place.address) return false;
  tables_ = std::move(own);
  space_ = std::make_unique<memory::AddressSpace>(*tables_, *physical_);
  return true;
}

void GuestView::forget() {
  if (space_) space_->forget_tables();
}

Result<std::size_t> GuestView::read_kernel(GuestVirt address, std::span<std::byte> into) {
  if (space_) return space_->read_up_to(address, into);
  if (!running_) return std::size_t{0};
  return engine_->read_virtual(running_->vcpu, address, into);
}

Result<std::optional<GuestPhys>> GuestView::physical_address(GuestVirt address) {
  if (!space_) return std::nullopt;
  RINGSIDE_ASSIGN(const auto walk, space_->walk(address));
  return walk.end == memory::WalkEnd::kMapped ? std::optional(walk.address) : std::nullopt;
}

std::unique_ptr<memory::PageTables> GuestView::tables_of_process(GuestPhys root) const {
  using memory::aarch64::StageOneTables;
  if (const auto* kernel = dynamic_cast<const StageOneTables*>(tables_.get())) {
    StageOneTables::Roots roots = kernel->roots();
    roots.ttbr0 = root.value;
    return std::make_unique<StageOneTables>(roots);
  }
  return memory::page_tables_of(running_->arch,
                                arch::with_user_root(running_->arch, running_->registers, root));
}

Result<std::size_t> GuestView::read_process(GuestVirt root, GuestVirt address,
                                            std::span<std::byte> into) {
  RINGSIDE_ASSIGN(const auto place, physical_address(root));
  const auto tables = place ? tables_of_process(*place) : nullptr;
  if (!tables) return std::size_t{0};
  return memory::AddressSpace(*tables, *physical_).read_up_to(address, into);
}

std::unique_ptr<memory::PageTables> GuestView::tables_of(const wire::Capture& capture) const {
  if (capture.arch != Arch::kAArch64)
    return memory::page_tables_of(capture.arch, capture.registers);
  // A capture has TTBR0_EL1 only; the rest does not change.
  using memory::aarch64::StageOneTables;
  const auto* kernel = dynamic_cast<const StageOneTables*>(tables_.get());
  if (kernel == nullptr || !capture.registers.has(arch::aarch64::kTtbr0El1)) return nullptr;
  StageOneTables::Roots roots = kernel->roots();
  roots.ttbr0 = capture.registers.get(arch::aarch64::kTtbr0El1);
  return std::make_unique<StageOneTables>(roots);
}

Result<std::optional<GuestPhys>> GuestView::physical_address_as(const wire::Capture& capture,
                                                                GuestVirt address) {
  const auto tables = physical_ == nullptr ? nullptr : tables_of(capture);
  if (!tables) return std::nullopt;
  RINGSIDE_ASSIGN(const auto walk, tables->walk(*physical_, address));
  return walk.end == memory::WalkEnd::kMapped ? std::optional(walk.address) : std::nullopt;
}

Result<std::size_t> GuestView::read_as(const wire::Capture& capture, GuestVirt address,
                                       std::span<std::byte> into) {
  if (physical_ == nullptr) return engine_->read_virtual(capture.vcpu, address, into);
  const auto tables = tables_of(capture);
  if (!tables) return std::size_t{0};
  return memory::AddressSpace(*tables, *physical_).read_up_to(address, into);
}

}  // namespace ringside::session
