// Unwinds the captured stacks of a recording in several ways: see README.md.
//
//     unwind_bench [--benchmark_…] [--frame-pointers RECORDING] [--stacks N] RECORDING
//     unwind_bench --once WAY|--differences WAY [--stacks N] RECORDING

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "once.h"
#include "table_benchmarks.h"
#include "ways.h"

namespace ringside::bench {
namespace {

struct Arguments {
  std::string recording;
  std::string frame_pointers;
  std::string once;
  std::string differences;
  std::size_t stacks = 2000;
};

// A walk over the chosen stacks; "ns_per_frame" is in seconds.
void time_walks(benchmark::State& state, Walker& walker, const StackSet& set,
                const std::vector<std::size_t>& chosen) {
  std::size_t frames = 0;
  for (auto _ : state) {
    frames = 0;
    for (const std::size_t i : chosen)
      frames += walker.walk(set.captures[i], set.expected[i].size());
  }
  state.counters["frames"] = static_cast<double>(frames);
  state.counters["seconds_per_frame"] = benchmark::Counter(
      static_cast<double>(frames),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

std::size_t count(const std::vector<bool>& same) {
  return static_cast<std::size_t>(std::count(same.begin(), same.end(), true));
}

std::vector<std::size_t> numbers(const std::vector<bool>& chosen) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) all.push_back(i);
  return all;
}

// Keeps what the benchmarks work on.
class Benchmarks {
 public:
  Result<void> add(const StackSet& set, const std::vector<Way>& ways, const std::string& prefix) {
    // A stack of one frame needs no unwinding, and a library stops there at once.
    std::vector<bool> agreed;
    for (const auto& expected : set.expected) agreed.push_back(expected.size() > 1);
    std::vector<Walker*> walkers;
    for (const Way& way : ways) {
      RINGSIDE_ASSIGN(auto walker, way.make(set));
      const std::vector<bool> same = agreement(*walker, set);
      benchmark::AddCustomContext(prefix + way.name + "_identical", std::to_string(count(same)));
      benchmark::AddCustomContext(prefix + way.name + "_slow",
                                  std::to_string(walker->slow_stacks()));
      for (std::size_t i = 0; i < same.size(); ++i) agreed[i] = agreed[i] && same[i];
      walkers.push_back(walkers_.emplace_back(std::move(walker)).get());
    }
    benchmark::AddCustomContext(prefix + "stacks", std::to_string(set.captures.size()));
    benchmark::AddCustomContext(prefix + "incomplete", std::to_string(set.incomplete));
    benchmark::AddCustomContext(prefix + "agreed", std::to_string(count(agreed)));
    for (std::size_t i = 0; i < ways.size(); ++i) {
      add_one(prefix + "agreed/" + ways[i].name, *walkers[i], set, agreed);
      add_one(prefix + "all/" + ways[i].name, *walkers[i], set,
              std::vector<bool>(agreed.size(), true));
    }
    return {};
  }

 private:
  static void add_one(const std::string& name, Walker& walker, const StackSet& set,
                      const std::vector<bool>& chosen) {
    benchmark::RegisterBenchmark(name.c_str(), [&walker, &set,
                                                which = numbers(chosen)](benchmark::State& state) {
      time_walks(state, walker, set, which);
    })->Unit(benchmark::kMicrosecond);
  }

  std::vector<std::unique_ptr<Walker>> walkers_;
};

Result<void> run(const Arguments& arguments) {
  RINGSIDE_ASSIGN(const StackSet set, load_stacks(arguments.recording, arguments.stacks));
  if (!arguments.once.empty()) return walk_once(arguments.once, set);
  if (!arguments.differences.empty()) return print_differences(arguments.differences, set);
  Benchmarks benchmarks;
  RINGSIDE_TRY(benchmarks.add(set, ways_with_tables(), ""));
  StackSet frames;
  if (!arguments.frame_pointers.empty()) {
    RINGSIDE_ASSIGN(frames, load_stacks(arguments.frame_pointers, arguments.stacks));
    RINGSIDE_TRY(benchmarks.add(frames, {frame_pointers()}, "frame_pointers/"));
  }
  add_table_benchmarks(set.images->images().front());
  benchmark::RunSpecifiedBenchmarks();
  return {};
}

int bench_main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  Arguments arguments;
  CLI::App app("Unwinds the captured stacks of a recording in several ways");
  app.add_option("recording", arguments.recording, "made with --keep-captures")->required();
  app.add_option("--frame-pointers", arguments.frame_pointers,
                 "another recording, of a kernel that keeps frame pointers");
  app.add_option("--stacks", arguments.stacks, "at most so many");
  app.add_option("--once", arguments.once, "one way only: the time and memory of its first use");
  app.add_option("--differences", arguments.differences,
                 "one way only: print the stacks that it finds otherwise");
  CLI11_PARSE(app, argc, argv);
  const auto done = run(arguments);
  if (!done) fmt::print(stderr, "unwind_bench: {}\n", done.error().message);
  return done ? 0 : 1;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) { return ringside::bench::bench_main(argc, argv); }
