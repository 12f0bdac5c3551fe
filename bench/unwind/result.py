"""The outcome of the unwind benchmark: from Google Benchmark's JSON to a summary and a table."""

LIBRARIES = ["libdwfl", "libunwind"]
PREFIX = "frame_pointers/"


def medians(benchmark):
    """name -> its median's counters."""
    return {entry["run_name"]: entry for entry in benchmark["benchmarks"] if entry.get("aggregate_name") == "median"}


def way(name, set_name, context, runs, once):
    """One way's figures on one set of stacks."""
    agreed, everything = runs[f"{set_name}agreed/{name}"], runs[f"{set_name}all/{name}"]
    seconds = agreed["seconds_per_frame"]
    return {"ns_per_frame": seconds * 1e9, "frames_per_second": 1 / seconds,
            "ns_per_frame_all_stacks": everything["seconds_per_frame"] * 1e9,
            "slow_stacks": int(context[f"{set_name}{name}_slow"]),
            "identical": int(context[f"{set_name}{name}_identical"]), "stacks": int(context[f"{set_name}stacks"]),
            **{key: once[name][key] for key in ("first_stack_s", "all_stacks_s", "peak_bytes", "private_bytes")}}


def table_figures(runs):
    """Build time in seconds, and what the tables take."""
    orc, index, compiled = runs["table/orc_load"], runs["table/cfi_index"], runs["table/cfi_compile_all"]
    return {
        "orc": {"build_s": orc["cpu_time"] / 1e3, "rows": orc["rows"], "rules": orc["rules"], "bytes": orc["bytes"],
                "bytes_per_row": orc["bytes"] / orc["rows"]},
        "cfi": {"index_s": index["cpu_time"] / 1e3, "compile_all_s": compiled["cpu_time"] / 1e3,
                "functions": compiled["functions"], "rows": compiled["rows"], "rules": compiled["rules"],
                "bytes": compiled["bytes"], "bytes_of_index": compiled["bytes_of_index"],
                "bytes_per_row": compiled["bytes"] / compiled["rows"]}}


def summarise(benchmark, once):
    context, runs = benchmark["context"], medians(benchmark)
    ways = {name: way(name, "", context, runs, once) for name in once if name != "frame_pointers"}
    for name, figures in ways.items():
        if name not in LIBRARIES:
            figures["times"] = {library: ways[library]["ns_per_frame"] / figures["ns_per_frame"]
                                for library in LIBRARIES}
    ways["frame_pointers"] = way("frame_pointers", PREFIX, context, runs, once)
    return {"stacks": int(context["stacks"]), "incomplete": int(context["incomplete"]),
            "agreed": int(context["agreed"]), "ways": ways, "tables": table_figures(runs)}


def table(summary):
    """The summary as lines of text."""
    lines = [f"{summary['stacks']} complete stacks ({summary['incomplete']} others left out); "
             f"{summary['agreed']} are the same in every way, and timed",
             f"{'':16}{'ns/frame':>9}{'frames/s':>12}{'x libdwfl':>10}{'x libunwind':>12}{'identical':>10}"
             f"{'slow':>8}{'all stacks':>14}{'first stack':>12}{'peak':>10}{'private':>10}"]
    for name, figures in summary["ways"].items():
        times = figures.get("times", {})
        ratios = [f"{times[library]:.1f}" if library in times else "-" for library in LIBRARIES]
        share = 100 * figures["identical"] / figures["stacks"]
        slow = 100 * figures["slow_stacks"] / figures["stacks"]
        lines.append(f"{name:16}{figures['ns_per_frame']:9.1f}{figures['frames_per_second']:12,.0f}{ratios[0]:>10}"
                     f"{ratios[1]:>12}{share:8.1f} %{slow:6.1f} %{figures['ns_per_frame_all_stacks']:11.1f} ns"
                     f"{figures['first_stack_s'] * 1e3:9.1f} ms{_mib(figures['peak_bytes']):>10}"
                     f"{_mib(figures['private_bytes']):>10}")
    orc, cfi = summary["tables"]["orc"], summary["tables"]["cfi"]
    lines += [f"ORC: {orc['rows']:,.0f} rows, {orc['rules']:,.0f} rules, {orc['bytes']:,.0f} bytes "
              f"({orc['bytes_per_row']:.2f} a row, rules included), built in {orc['build_s'] * 1e3:.1f} ms",
              f"CFI: {cfi['functions']:,.0f} functions indexed in {cfi['index_s'] * 1e3:.1f} ms "
              f"({cfi['bytes_of_index']:,.0f} bytes); all compiled in {cfi['compile_all_s'] * 1e3:.1f} ms: "
              f"{cfi['rows']:,.0f} rows, {cfi['rules']:,.0f} rules, {cfi['bytes']:,.0f} bytes "
              f"({cfi['bytes_per_row']:.2f} a row)"]
    return lines


def _mib(size):
    return f"{size / 2**20:.1f} MiB"
