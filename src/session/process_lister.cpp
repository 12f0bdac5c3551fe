#include "session/process_lister.h"

#include <algorithm>

#include "arch/arch_info.h"
#include "base/clock.h"

namespace ringside::session {
namespace {

constexpr engines::Pace kPace{.interval = 5'000'000};  // ns

}  // namespace

ProcessLister::~ProcessLister() {
  if (started_) engine_->self_paced()->stop();
}

Result<engines::Tick> ProcessLister::tick() {
  if (engines::SelfPaced* const pace = engine_->self_paced(); pace != nullptr && !started_) {
    RINGSIDE_TRY(pace->start(kPace));
    started_ = true;
  }
  const std::vector<engines::VcpuPlan> plans(engine_->vcpu_count());
  engines::TickPlan plan;
  plan.vcpus = plans;
  plan.states = true;
  return engine_->tick(plan);
}

Result<const wire::Capture*> ProcessLister::find_kernel(engines::Tick& tick) {
  RINGSIDE_TRY(watch_.poll(*engine_, tick, monotonic_ns()).map([](const auto&) {}));
  if (watch_.kernel() == nullptr) {
    if (!watch_.explain().empty()) why_ = watch_.explain();
    return nullptr;
  }
  const elf::Image& kernel = watch_.kernel()->image;
  const auto runs_it = [&kernel](const wire::Capture& capture) {
    const std::uint8_t pc = arch::roles_of(capture.arch).pc;
    return capture.level == PrivilegeLevel::kKernel && capture.registers.has(pc) &&
           kernel.file->is_code(kernel.to_image({capture.registers.get(pc)}));
  };
  const auto found = std::find_if(tick.captures.begin(), tick.captures.end(), runs_it);
  if (found != tick.captures.end()) return &*found;
  why_ = kNotSeen;
  return nullptr;
}

Result<std::optional<guestos::ProcessList>> ProcessLister::poll() {
  RINGSIDE_ASSIGN(engines::Tick taken, tick());
  if (taken.left_alone != engines::LeftAlone::kNo) {
    const bool migrates = taken.left_alone == engines::LeftAlone::kMigrating;
    why_ = migrates ? "the guest is being migrated" : "the guest is paused";
    return std::nullopt;
  }
  RINGSIDE_ASSIGN(const wire::Capture* const running, find_kernel(taken));
  if (running == nullptr) return std::nullopt;
  RINGSIDE_TRY(view_.adopt(*running, watch_.adapter().page_table_root()).map([](bool) {}));
  auto list = read(*running);
  if (list || !guestos::is_of_memory(list.error().code)) return list;
  why_ = list.error().message;
  return std::nullopt;
}

Result<guestos::ProcessList> ProcessLister::read(const wire::Capture& running) {
  if (!source_) {
    RINGSIDE_ASSIGN(source_, watch_.adapter().process_source());
  }
  return source_->read(running, view_);
}

Result<std::string> ProcessLister::arguments(const guestos::GuestThread& thread) {
  return source_ ? source_->arguments(thread, view_) : std::string();
}

Result<guestos::UserNames> ProcessLister::user_names(const guestos::ProcessList& list) {
  return source_ ? source_->user_names(list, view_) : guestos::UserNames();
}

}  // namespace ringside::session
