#include "table_benchmarks.h"

#include <benchmark/benchmark.h>

#include "arch/arch_info.h"
#include "unwind/cfi/table.h"
#include "unwind/orc/table.h"

namespace ringside::bench {
namespace {

void put(benchmark::State& state, const char* name, std::size_t value) {
  state.counters[name] = static_cast<double>(value);
}

void load_orc(benchmark::State& state, const elf::ElfFile& file) {
  unwind::orc::Table::Size size;
  for (auto _ : state) {
    const auto table = unwind::orc::Table::from_elf(file);
    if (!table) return state.SkipWithError("no ORC");
    size = table->size();
  }
  put(state, "entries", size.entries);
  put(state, "rows", size.rows);
  put(state, "rules", size.rules);
  put(state, "bytes", size.bytes);
}

void index_cfi(benchmark::State& state, const std::shared_ptr<const elf::ElfFile>& file) {
  std::size_t functions = 0;
  for (auto _ : state) functions = unwind::cfi::Table(file, arch::kX86_64Info).size().functions;
  put(state, "functions", functions);
}

// Compiles the rules of all functions; a walk over stacks does so for a few only.
void compile_all_cfi(benchmark::State& state, const std::shared_ptr<const elf::ElfFile>& file) {
  unwind::cfi::Table::Size size;
  for (auto _ : state) {
    state.PauseTiming();
    unwind::cfi::Table table(file, arch::kX86_64Info);
    state.ResumeTiming();
    for (const elf::FunctionSymbol& symbol : file->symbols())
      benchmark::DoNotOptimize(table.find_compact(symbol.address));
    size = table.size();
  }
  put(state, "functions", size.functions);
  put(state, "rows", size.rows);
  put(state, "rules", size.rules);
  put(state, "bytes", size.bytes);
  put(state, "bytes_of_index", size.bytes_of_index);
}

}  // namespace

void add_table_benchmarks(const elf::Image& image) {
  const auto& file = image.file;
  const auto add = [](const char* name, auto run) {
    benchmark::RegisterBenchmark(name, run)->Unit(benchmark::kMillisecond);
  };
  add("table/orc_load", [file](benchmark::State& state) { load_orc(state, *file); });
  add("table/cfi_index", [file](benchmark::State& state) { index_cfi(state, file); });
  add("table/cfi_compile_all", [file](benchmark::State& state) { compile_all_cfi(state, file); });
}

}  // namespace ringside::bench
