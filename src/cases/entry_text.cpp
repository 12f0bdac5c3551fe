#include "cases/entry_text.h"

#include <map>
#include <span>

#include "cases/register_names.h"
#include "cases/text_lines.h"

namespace ringside::cases {
namespace {

std::string layout_text(const unwind::EntryLayout& entry, Arch arch) {
  std::string text = "sp+0";
  for (std::size_t reg = 0; reg < wire::kRegisterCount; ++reg)
    if (entry.frame.saves(reg))
      text += fmt::format(" {}={}", register_name(arch, reg), entry.frame.offsets[reg]);
  return text + (entry.calls_only ? " calls" : "");
}

// "sp+16", "sp-8"
bool set_base(std::string_view word, unwind::EntryLayout& entry) {
  const std::string_view base = word.substr(0, 2);
  if (word.size() < 4 || (word[2] != '+' && word[2] != '-')) return false;
  const auto offset = to_offset(word.substr(word[2] == '+' ? 3 : 2));
  (void)entry;
  return base == "sp" && offset == 0;
}

bool set_layout(std::span<const std::string_view> words, Arch arch, unwind::EntryLayout& entry) {
  if (words.empty() || !set_base(words[0], entry)) return false;
  for (const std::string_view word : words.subspan(1)) {
    if (word == "calls") {
      entry.calls_only = true;
      continue;
    }
    const auto pair = to_pair(word);
    const auto reg = pair ? register_number(arch, pair->key) : std::nullopt;
    const auto offset = pair ? to_offset(pair->value) : std::nullopt;
    if (!reg || !offset || *offset == unwind::RegisterFrame::kNotSaved) return false;
    entry.frame.save(*reg, *offset);
  }
  return true;
}

}  // namespace

std::string entries_text(std::span<const unwind::EntryLayout> entries, Arch arch) {
  std::map<std::string, std::size_t> numbers;
  std::string text;
  for (const unwind::EntryLayout& entry : entries) {
    std::string how = "ends";
    if (!entry.ends) {
      const std::string layout = layout_text(entry, arch);
      const auto [number, added] = numbers.try_emplace(layout, numbers.size() + 1);
      if (added) text += fmt::format("layout {} {}\n", number->second, layout);
      how = fmt::format("{}", number->second);
    }
    text += fmt::format("{:#x} {:#x} {}\n", entry.start.value, entry.end.value, how);
  }
  return text;
}

Result<std::vector<unwind::EntryLayout>> parse_entries(std::string_view text, Arch arch,
                                                       const std::string& name) {
  std::vector<unwind::EntryLayout> entries;
  std::map<std::string, unwind::EntryLayout, std::less<>> layouts;
  TextLines lines(text, name);
  while (const auto words = lines.next()) {
    if ((*words)[0] == "layout") {
      unwind::EntryLayout layout;
      if (words->size() < 3 || !set_layout(std::span(*words).subspan(2), arch, layout))
        return lines.error("not 'layout NUMBER sp+OFFSET REGISTER=OFFSET …'");
      layouts.insert_or_assign(std::string((*words)[1]), layout);
      continue;
    }
    const auto start = to_number((*words)[0]);
    const auto end = words->size() == 3 ? to_number((*words)[1]) : std::nullopt;
    if (!start || !end || *end < *start) return lines.error("not 'START END LAYOUT'");
    unwind::EntryLayout entry;
    if ((*words)[2] == "ends") {
      entry.ends = true;
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
