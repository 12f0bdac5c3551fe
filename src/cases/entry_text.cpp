#include "cases/entry_text.h"

#include <array>
#include <map>
#include <span>

#include "arch/arch_info.h"
#include "cases/register_names.h"
#include "cases/text_lines.h"

namespace ringside::cases {
namespace {

using unwind::TrapFrameLayout;

// In the order of TrapFrameLayout::Below; interrupted code's layout has no word.
constexpr std::array<std::string_view, 3> kBelow = {"", " caller", " user"};

std::string layout_text(const TrapFrameLayout& entry, Arch arch) {
  const bool by_fp = entry.base == TrapFrameLayout::Base::kFramePointer;
  std::string text = fmt::format("{}{:+}{}", by_fp ? "fp" : "sp", entry.base_offset,
                                 kBelow[static_cast<std::size_t>(entry.below)]);
  if (entry.return_in != arch::RegisterRoles::kNone)
    text += fmt::format(" return-in={}", register_name(arch, entry.return_in));
  if (entry.overrides) text += " overrides";
  if (entry.keeps_registers) text += " keeps-registers";
  if (entry.skips_own_words) text += " skips-own-words";
  for (std::size_t reg = 0; reg < arch::kRegisterCount; ++reg)
    if (entry.frame.saves(reg))
      text += fmt::format(" {}={}", register_name(arch, reg), entry.frame.offsets[reg]);
  return text + (entry.calls_only ? " calls" : "");
}

// "sp+16", "fp-8"
bool set_base(std::string_view word, TrapFrameLayout& entry) {
  const std::string_view base = word.substr(0, 2);
  if (word.size() < 4 || (word[2] != '+' && word[2] != '-')) return false;
  const auto offset = to_offset(word.substr(word[2] == '+' ? 3 : 2));
  if (!offset || (base != "sp" && base != "fp")) return false;
  entry.base =
      base == "fp" ? TrapFrameLayout::Base::kFramePointer : TrapFrameLayout::Base::kStackPointer;
  entry.base_offset = *offset;
  return true;
}

bool set_word(std::string_view word, TrapFrameLayout& entry) {
  for (std::size_t i = 1; i < kBelow.size(); ++i) {
    if (word != kBelow[i].substr(1)) continue;
    entry.below = static_cast<TrapFrameLayout::Below>(i);
    return true;
  }
  const std::array<std::pair<std::string_view, bool*>, 4> flags = {
      {{"overrides", &entry.overrides},
       {"calls", &entry.calls_only},
       {"keeps-registers", &entry.keeps_registers},
       {"skips-own-words", &entry.skips_own_words}}};
  for (const auto& [name, flag] : flags) {
    if (word != name) continue;
    *flag = true;
    return true;
  }
  return false;
}

bool set_layout(std::span<const std::string_view> words, Arch arch, TrapFrameLayout& entry) {
  if (words.empty() || !set_base(words[0], entry)) return false;
  for (const std::string_view word : words.subspan(1)) {
    if (set_word(word, entry)) continue;
    const auto pair = to_pair(word);
    if (pair && pair->key == "return-in") {
      const auto in = register_number(arch, pair->value);
      if (!in || *in >= unwind::kTrackedRegisters) return false;
      entry.return_in = static_cast<std::uint8_t>(*in);
      continue;
    }
    const auto reg = pair ? register_number(arch, pair->key) : std::nullopt;
    const auto offset = pair ? to_offset(pair->value) : std::nullopt;
    if (!reg || !offset || *offset == unwind::RegisterFrame::kNotSaved) return false;
    entry.frame.save(*reg, *offset);
  }
  return true;
}

}  // namespace

std::string entries_text(std::span<const unwind::TrapFrameLayout> entries, Arch arch) {
  std::map<std::string, std::size_t> numbers;
  std::string text;
  for (const TrapFrameLayout& entry : entries) {
    std::string how = "ends";
    if (entry.below != TrapFrameLayout::Below::kNothing) {
      const std::string layout = layout_text(entry, arch);
      const auto [number, added] = numbers.try_emplace(layout, numbers.size() + 1);
      if (added) text += fmt::format("layout {} {}\n", number->second, layout);
      how = fmt::format("{}", number->second);
    }
    text += fmt::format("{:#x} {:#x} {}\n", entry.start.value, entry.end.value, how);
  }
  return text;
}

Result<std::vector<unwind::TrapFrameLayout>> parse_entries(std::string_view text, Arch arch,
                                                           const std::string& name) {
  std::vector<unwind::TrapFrameLayout> entries;
  std::map<std::string, unwind::TrapFrameLayout, std::less<>> layouts;
  TextLines lines(text, name);
  while (const auto words = lines.next()) {
    if ((*words)[0] == "layout") {
      unwind::TrapFrameLayout layout;
      if (words->size() < 3 || !set_layout(std::span(*words).subspan(2), arch, layout))
        return lines.error("not 'layout NUMBER sp+OFFSET WORD … REGISTER=OFFSET …'");
      layouts.insert_or_assign(std::string((*words)[1]), layout);
      continue;
    }
    const auto start = to_number((*words)[0]);
    const auto end = words->size() == 3 ? to_number((*words)[1]) : std::nullopt;
    if (!start || !end || *end < *start) return lines.error("not 'START END LAYOUT'");
    TrapFrameLayout entry;
    if ((*words)[2] == "ends") {
      entry.below = TrapFrameLayout::Below::kNothing;
    } else {
      const auto layout = layouts.find((*words)[2]);
      if (layout == layouts.end())
        return lines.error(fmt::format("no layout {} before", (*words)[2]));
      entry = layout->second;
    }
    entry.start = {*start};
    entry.end = {*end};
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace ringside::cases
