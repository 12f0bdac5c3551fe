// Recipes made of any bytes, over memory made of the bytes behind them: a run ends after at most so
// many reads as there are operations, and reads no more than its budget. Behind page tables each
// read is one a page, with a budget of entries of its own.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/byte_reader.h"
#include "wire/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  if (size > 1u << 16) return 0;
  std::vector<wire::RecipeOp> recipe(size / sizeof(wire::RecipeOp));
  if (!recipe.empty()) std::memcpy(recipe.data(), data, recipe.size() * sizeof(wire::RecipeOp));
  arch::Registers registers;
  registers.set(7, 0x7fff'0000);
  wire::RecipeBudget budget;
  budget.loads = 16;
  budget.bytes = 10'000;
  const bool enters = std::any_of(recipe.begin(), recipe.end(), [](const wire::RecipeOp& op) {
    return op.opcode == wire::RecipeOpcode::kEnter;
  });
  const std::size_t most =
      enters ? wire::kMostTableLoads + 2 * recipe.size() + budget.bytes / 4096 + 1 : recipe.size();
  std::size_t loads = 0;
  std::uint64_t bytes = 0;
  std::size_t requests = 0;
  wire::RecipeRun run(recipe, registers, budget);
  while (const auto request = run.next()) {
    if (++requests > most || request->size == 0) std::abort();
    if (!request->is_load()) {
      bytes += request->size;
      continue;
    }
    ++loads;
    if (!enters && (request->read_at != request->address || loads > budget.loads)) std::abort();
    std::uint64_t value = 0;
    const bool mapped = request->read_at.value % 3 != 0;
    if (size >= sizeof(value))
      std::memcpy(&value, data + request->read_at.value % (size - sizeof(value) + 1),
                  sizeof(value));
    run.loaded(mapped ? std::optional(value) : std::nullopt);
  }
  if (bytes > budget.bytes) std::abort();
  return 0;
}
