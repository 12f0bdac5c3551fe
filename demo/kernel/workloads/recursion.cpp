#include "workloads/work.h"
#include "workloads/workload.h"

namespace {

enum : u32 { kWalkNode, kWalkChild, kVisitLeaf };
constexpr const char* kFunctions[] = {"walk_node", "walk_child", "visit_leaf"};

constexpr u64 kPercent = 8000;  // iterations
constexpr u64 kDepth = 40;

}  // namespace

extern "C" void walk_child(u64 depth);

extern "C" void visit_leaf() { work(kVisitLeaf, 60 * kPercent); }

// Two functions in turn, so that a skipped frame is seen. One percent of the work in each of the 40
// frames.
extern "C" void walk_node(u64 depth) {
  work(kWalkNode, kPercent);
  walk_child(depth + 1);
}

extern "C" void walk_child(u64 depth) {
  work(kWalkChild, kPercent);
  if (depth == kDepth) {
    visit_leaf();
  } else {
    walk_node(depth + 1);
  }
}

extern "C" void recursion_round() { walk_node(1); }

constinit const Workload recursion_workload = {
    .name = "recursion",
    .summary = "recursion 40 deep, 60 percent at the bottom, one percent in each frame on the way",
    .functions = kFunctions,
    .function_count = 3,
    .threads_per_vcpu = 1,
    .only_vcpu0 = false,
    .ticks = true,
    .prepare = nullptr,
    .round = recursion_round,
    .start_processes = nullptr,
};
