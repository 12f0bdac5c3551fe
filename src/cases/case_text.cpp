#include "cases/case_text.h"

#include <array>

#include "cases/capture_text.h"
#include "cases/memory_text.h"
#include "cases/text_lines.h"

namespace ringside::cases {
namespace {

constexpr std::string_view kMagic = "unwind-case";
constexpr std::string_view kVersion = "1";

enum SectionNumber : std::size_t { kImages, kRegisters, kMemory, kExpected, kEnteredFrom };
constexpr std::array<std::string_view, 5> kSections = {"images", "registers", "memory", "expected",
                                                       "entered-from"};
constexpr std::size_t kNeeded = kEnteredFrom;  // the sections before this one

Result<void> check_version(TextLines lines) {
  const auto words = lines.next();
  if (!words || words->size() != 2 || words->front() != kMagic)
    return lines.error(fmt::format("not a case, which begins with '{} {}'", kMagic, kVersion));
  if (words->back() != kVersion)
    return lines.error(
        fmt::format("version '{}' of the format; this ringside reads {}", words->back(), kVersion),
        ErrorCode::kUnsupported);
  if (lines.next()) return lines.error(fmt::format("not '[{}]'", kSections.front()));
  return {};
}

// The sections must be those of kSections, in their order.
Result<void> check_sections(const SectionedText& parts) {
  const std::vector<Section>& sections = parts.sections();
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (i == kSections.size())
      return sections[i].lines.error(
          fmt::format("section '{}' behind the last one", sections[i].name));
    if (sections[i].name != kSections[i])
      return sections[i].lines.error(
          fmt::format("section '{}' where '{}' belongs", sections[i].name, kSections[i]));
  }
  if (sections.size() >= kNeeded) return {};
  const TextLines& last = sections.empty() ? parts.preamble() : sections.back().lines;
  return last.error(fmt::format("no section '{}' behind this", kSections[sections.size()]));
}

Result<void> parse_images(TextLines lines, CaseText& into) {
  while (const auto words = lines.next()) {
    if (words->front() == "entries" && words->size() == 2 && into.entries.empty()) {
      into.entries = words->back();
      continue;
    }
    const auto bias = words->size() == 4 ? to_number(words->back()) : std::nullopt;
    if (words->front() != "image" || !bias)
      return lines.error("neither 'image NAME FILE LOAD-BIAS' nor one 'entries FILE'");
    into.images.push_back({std::string((*words)[1]), std::string((*words)[2]), *bias});
  }
  return {};
}

Result<void> parse_entered_from(TextLines lines, CaseText& into) {
  while (const auto words = lines.next()) {
    const auto value = words->size() == 2 ? to_number(words->back()) : std::nullopt;
    if (!value) return lines.error("not 'NAME VALUE'");
    into.entered_from.emplace_back(words->front(), *value);
  }
  return {};
}

std::string heading(SectionNumber section) { return fmt::format("\n[{}]\n", kSections[section]); }

}  // namespace

std::string case_text(const CaseText& parts) {
  std::string text = fmt::format("{} {}\n{}", kMagic, kVersion, heading(kImages));
  for (const CaseText::Image& image : parts.images)
    text += fmt::format("image {} {} {:#x}\n", image.name, image.file, image.load_bias);
  if (!parts.entries.empty()) text += fmt::format("entries {}\n", parts.entries);
  text += heading(kRegisters) + registers_text(parts.capture);
  text += heading(kMemory) + memory_text(parts.capture);
  text += heading(kExpected) + expected_text(parts.expected);
  if (parts.entered_from.empty()) return text;
  text += heading(kEnteredFrom);
  for (const auto& [name, value] : parts.entered_from)
    text += fmt::format("{} {:#x}\n", name, value);
  return text;
}

Result<CaseText> parse_case(std::string_view text, const std::string& name) {
  const SectionedText parts(text, name);
  RINGSIDE_TRY(check_version(parts.preamble()));
  RINGSIDE_TRY(check_sections(parts));
  const std::vector<Section>& sections = parts.sections();
  CaseText found;
  RINGSIDE_TRY(parse_images(sections[kImages].lines, found));
  RINGSIDE_ASSIGN(found.capture, parse_registers(sections[kRegisters].lines));
  RINGSIDE_TRY(parse_memory(sections[kMemory].lines, found.capture));
  RINGSIDE_ASSIGN(found.expected, parse_expected(sections[kExpected].lines));
  if (sections.size() > kEnteredFrom)
    RINGSIDE_TRY(parse_entered_from(sections[kEnteredFrom].lines, found));
  return found;
}

}  // namespace ringside::cases
