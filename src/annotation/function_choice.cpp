#include "annotation/function_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "annotation/similar_names.h"

namespace ringside::annotation {
namespace {

using profile::StringId;
using Wants = std::function<bool(std::string_view)>;

constexpr std::string_view kInlinedMark = " (inlined)";  // as report has it behind a name

// "f(int) const" becomes "f": all before the parameters.
std::string_view without_parameters(std::string_view name) {
  if (name.starts_with('(')) return name;  // (anonymous namespace)::f
  return name.substr(0, name.find('('));
}

class Chooser {
 public:
  Chooser(const LeafSums& sums, const profile::StringTable& strings)
      : sums_(sums), strings_(strings) {}

  // The wanted ones of the functions themselves, or of those inlined into them.
  [[nodiscard]] std::vector<SampledFunction> those(const Wants& wants, bool inlined) const {
    std::map<Key, SampledFunction> found;
    for (const Leaf& leaf : sums_.leaves) {
      const auto first = leaf.functions.begin();
      const auto is_wanted = [&](StringId id) { return wants(strings_[id]); };
      const auto wanted = inlined ? std::find_if(first + 1, leaf.functions.end(), is_wanted)
                          : is_wanted(*first) ? first
                                              : leaf.functions.end();
      if (wanted == leaf.functions.end()) continue;
      SampledFunction& function = found[key_of(leaf, inlined ? *wanted : 0)];
      function.inlined = inlined ? *wanted : 0;
      function.leaves.push_back(&leaf);
      function.sum.add(leaf.sum);
    }
    std::vector<SampledFunction> all;
    for (auto& [key, function] : found) all.push_back(std::move(function));
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return profile::extent_of(a.sum.weight) > profile::extent_of(b.sum.weight);
    });
    return all;
  }

  [[nodiscard]] std::vector<std::string> similar(std::string_view name) const {
    std::map<std::string, std::uint64_t> names;
    for (const Leaf& leaf : sums_.leaves)
      for (const StringId id : leaf.functions)
        names[std::string(strings_[id])] += profile::extent_of(leaf.sum.weight);
    return similar_names(name, names);
  }

 private:
  // By name, image, the place as linked, and the function inlined there.
  using Key = std::tuple<std::string_view, std::string_view, std::vector<std::byte>, std::uint64_t,
                         StringId>;
  [[nodiscard]] Key key_of(const Leaf& leaf, StringId inlined) const {
    const recording::ImageInfo* const image = leaf.image;
    const std::uint64_t bias = image == nullptr ? 0 : image->load_bias;
    return {strings_[leaf.functions.front()], image == nullptr ? std::string_view() : image->name,
            image == nullptr ? std::vector<std::byte>() : image->build_id,
            leaf.symbol.size == 0 ? 0 : leaf.symbol.start.value - bias, inlined};
  }

  const LeafSums& sums_;
  const profile::StringTable& strings_;
};

// Without what report has behind the name of an inlined function.
std::string_view without_mark(std::string_view name) {
  if (name.ends_with(kInlinedMark)) name.remove_suffix(kInlinedMark.size());
  return name;
}

}  // namespace

bool is_called_for(std::string_view name, std::string_view asked) {
  asked = without_mark(asked);
  return name == asked || without_parameters(name) == asked;
}

Result<std::vector<SampledFunction>> choose_functions(const LeafSums& sums,
                                                      const profile::StringTable& strings,
                                                      std::string_view name) {
  const Chooser chooser(sums, strings);
  if (name.empty()) return chooser.those([](std::string_view) { return true; }, false);
  const std::string_view asked = without_mark(name);
  const Wants whole = [&](std::string_view known) { return known == asked; };
  const Wants short_name = [&](std::string_view known) {
    return without_parameters(known) == asked;
  };
  const bool only_inlined = asked.size() != name.size();
  for (const Wants& wants : {whole, short_name})
    for (const bool inlined : {false, true}) {
      if (only_inlined && !inlined) continue;
      auto found = chooser.those(wants, inlined);
      if (!found.empty()) return found;
    }
  const std::vector<std::string> similar = chooser.similar(asked);
  return fail(
      ErrorCode::kNotFound, "no sample is in a function {}{}{}", asked,
      similar.empty() ? "; 'ringside report' lists the functions" : "; there are similar names: ",
      fmt::join(similar, ", "));
}

}  // namespace ringside::annotation
