#include "session/sampling/capture_planner.h"

#include <algorithm>

#include "guestos/firmware_recipe.h"

namespace ringside::session {
namespace {

std::vector<wire::RecipeOp> recipe_of(const guestos::Adapter& adapter, VcpuId id,
                                      const CaptureFeedback::Advice& advice) {
  std::vector<wire::RecipeOp> usual =
      adapter.recipe(id, {.links = advice.links, .hooked_returns = advice.hooked_returns});
  if (adapter.arch() != Arch::kRiscv64 || usual.empty()) return usual;
  wire::RecipeBuilder builder;
  guestos::enter_interrupted_code(builder, advice.firmware_frame);
  builder.next_recipe();
  std::vector<wire::RecipeOp> recipe = builder.take();
  recipe.insert(recipe.end(), usual.begin(), usual.end());
  return recipe;
}

}  // namespace

CapturePlanner::CapturePlanner(const CaptureFeedback& feedback, const SamplingOptions& options,
                               std::size_t vcpus)
    : feedback_(&feedback),
      kernel_(options.kernel),
      user_(options.user),
      halted_(options.halted),
      states_(options.states),
      recipes_(vcpus),
      vcpus_(vcpus) {
  for (std::size_t i = 0; i < vcpus; ++i) {
    const VcpuId id{static_cast<std::uint16_t>(i)};
    vcpus_[i].wanted =
        options.vcpus.empty() ||
        std::find(options.vcpus.begin(), options.vcpus.end(), id) != options.vcpus.end();
  }
}

void CapturePlanner::poll(const engines::Tick& tick, guestos::Adapter& adapter) {
  for (const wire::Capture& capture : tick.captures) {
    const bool kernel = capture.level == PrivilegeLevel::kKernel && capture.arch != Arch::kUnknown;
    if (kernel && capture.arch != adapter.arch() && adapter.adopt(capture.arch)) renew();
  }
}

engines::TickPlan CapturePlanner::plan(const guestos::Adapter& adapter) {
  const std::uint64_t generation = feedback_->link_generation();
  const bool renew_recipes = stale_ || generation != generation_;
  for (std::size_t i = 0; i < vcpus_.size(); ++i) {
    const VcpuId id{static_cast<std::uint16_t>(i)};
    const CaptureFeedback::Advice advice = feedback_->advice(id);
    if (renew_recipes) {
      recipes_[i] = recipe_of(adapter, id, advice);
      vcpus_[i].recipe = recipes_[i];
    }
    vcpus_[i].kernel_budget = advice.kernel;
    vcpus_[i].user_budget = advice.user;
  }
  stale_ = false;
  generation_ = generation;
  return {kernel_, user_, vcpus_, adapter.arch(), halted_, states_};
}

}  // namespace ringside::session
