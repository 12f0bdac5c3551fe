#include "exporters/comparison/comparison_json.h"

#include <fmt/core.h>

#include "exporters/parts/json_text.h"
#include "profile/sanitize.h"

namespace ringside::exporters {
namespace {

using views::ComparedShare;
using views::ComparedSide;

void add_share(const char* name, const ComparedShare& share, double chance, JsonText& json) {
  const views::Verdict verdict = views::verdict_of(share, chance);
  json.add(R"("{}":{{"before_percent":{:.4f},"after_percent":{:.4f},"change_points":{:.4f},)"
           R"("samples_before":{},"samples_after":{},"verdict":"{}")",
           name, 100 * share.before, 100 * share.after, 100 * share.difference.change,
           share.has_counts ? fmt::format("{}", share.samples_before) : "null",
           share.has_counts ? fmt::format("{}", share.samples_after) : "null",
           views::name_of(verdict));
  if (views::is_tested(verdict) && !share.is_exact)
    json.add(R"(,"margin_points":{:.4f},"p":{:.6g},"corrected_p":{:.6g})",
             100 * share.difference.margin(), share.difference.p, share.corrected_p);
  json.add_text("}");
}

void add_side(const char* name, const ComparedSide& side, JsonText& json) {
  const auto or_null = [](std::uint64_t number) {
    return number == 0 ? std::string("null") : fmt::format("{}", number);
  };
  json.add(
      R"("{}":{{"input":{},"recordings":{},"kernel":{},"samples":{},"unit":"{}","busy":{},"idle":{},"duration_ns":{}}})",
      name, json_quoted(profile::sanitize(side.input)), side.recordings,
      json_quoted(side.kernel.empty() ? "" : profile::sanitize(side.kernel)), or_null(side.samples),
      side.unit, side.busy, side.idle, or_null(side.duration_ns));
}

void add_function(const views::ComparedFunction& function, double chance, JsonText& json) {
  json.add(R"({{"name":{},"image":{},"kind":"{}",)", json_quoted(function.name),
           json_quoted(function.image), profile::name_of(function.kind));
  add_share("self", function.self, chance, json);
  json.add_text(",");
  add_share("total", function.total, chance, json);
  json.add_text("}");
}

void add_breach(const views::LimitBreach& breach, JsonText& json) {
  json.add(R"({{"limit":{},"name":{},"image":{},"is_sure":{},"p":{:.6g}}})",
           json_quoted(profile::sanitize(breach.limit->text)), json_quoted(breach.function->name),
           json_quoted(breach.function->image), breach.is_sure, breach.p);
}

template <class List, class Add>
void add_list(const char* name, const List& list, JsonText& json, const Add& add) {
  json.add(R"("{}":[)", name);
  bool is_first = true;
  for (const auto& item : list) {
    json.add_text(is_first ? "" : ",");
    is_first = false;
    add(item);
  }
  json.add_text("]");
}

void add_comparison(const JudgedComparison& judged, const ComparisonOptions& options,
                    JsonText& json) {
  const views::Comparison& comparison = judged.comparison;
  json.add_text("\n{");
  add_side("before", comparison.before, json);
  json.add_text(",");
  add_side("after", comparison.after, json);
  json.add_text(",");
  add_list("unlike", comparison.unlike, json,
           [&](const std::string& text) { json.add_text(json_string(text)); });
  const char* const test = !comparison.has_test()        ? "none"
                           : comparison.is_exact         ? "exact"
                           : comparison.is_of_runs()     ? "runs"
                           : comparison.frequencies == 0 ? "counts"
                                                         : "series";
  json.add(
      R"(,"test":{{"name":"{}","in_words":{},"frequencies":{},"tested_self":{},"tested_total":{},"chance":{:g}}},)",
      test, json_quoted(test_in_words(comparison, options)), comparison.frequencies,
      comparison.tested_self, comparison.tested_total, options.chance);
  add_list("breaches", judged.breaches, json,
           [&](const views::LimitBreach& breach) { add_breach(breach, json); });
  json.add_text(",");
  add_list("functions", views::by_change(comparison, options.with_callees), json,
           [&](const views::ComparedFunction* function) {
             json.add_text("\n");
             add_function(*function, options.chance, json);
           });
  json.add_text("}");
}

}  // namespace

Result<void> write_json_comparisons(const std::vector<JudgedComparison>& comparisons,
                                    const ComparisonOptions& options, Sink& sink) {
  JsonText json(sink);
  json.add_text("{");
  add_list("comparisons", comparisons, json,
           [&](const JudgedComparison& judged) { add_comparison(judged, options, json); });
  json.add_text("}\n");
  return json.finish();
}

}  // namespace ringside::exporters
