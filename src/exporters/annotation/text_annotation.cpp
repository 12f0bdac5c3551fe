#include "exporters/annotation/text_annotation.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/text_width.h"
#include "exporters/units.h"

namespace ringside::exporters {
namespace {

using annotation::AnnotatedFunction;
using annotation::AnnotatedInstruction;
using annotation::AnnotatedLine;
using annotation::Annotation;
using annotation::Sum;

constexpr std::size_t kShareWidth = 7;  // "100.00%"

class Writer {
 public:
  Writer(const Annotation& annotation, const AnnotatedFunction& function,
         const AnnotationOptions& options, Sink& sink)
      : annotation_(annotation), function_(function), options_(options), sink_(sink) {
    for (const AnnotatedInstruction& shown : function.instructions)
      longest_code_ = std::max(longest_code_, shown.bytes.size());
    if (!function.instructions.empty())
      place_width_ = place_of(function.instructions.back().address).size();
  }

  Result<void> write() {
    RINGSIDE_TRY(write_head());
    RINGSIDE_TRY(write_lines());
    return write_instructions();
  }

 private:
  [[nodiscard]] std::string line_name(const AnnotatedLine& line) const {
    if (line.line == 0) return "(no source line)";
    const std::filesystem::path file(annotation_.strings[line.file]);
    return fmt::format("{}:{}", file.filename().string(), line.line);
  }

  Result<void> write_head() {
    const AnnotatedFunction& f = function_;
    std::string head = "# ";
    if (!f.inlined.empty()) head += f.inlined + " (inlined) in ";
    head += f.name;
    if (!f.image.empty()) head += "  [" + f.image + "]";
    if (f.size != 0) head += fmt::format("  at {}, {} bytes", f.start, f.size);
    head += fmt::format("\n# {}% of all samples: {} of {} {}",
                        format_share(f.sum.weight, annotation_.extent), format_weight(f.sum.weight),
                        format_weight(annotation_.total.weight),
                        unit_of(annotation_.total.weight, annotation_.unit));
    if (static_cast<profile::Weight>(f.sum.samples) != f.sum.weight)
      head += fmt::format(" ({} samples)", format_count(f.sum.samples));
    head += "\n";
    for (const std::string& note : f.notes) head += "# " + note + "\n";
    return sink_.write(head + "#\n");
  }

  // The heaviest first, and only those with samples.
  Result<void> write_lines() {
    std::vector<const AnnotatedLine*> lines;
    for (const AnnotatedLine& line : function_.lines)
      if (line.sum.samples != 0) lines.push_back(&line);
    if (lines.size() == 1 && lines.front()->line == 0) return {};
    std::stable_sort(lines.begin(), lines.end(), [](const auto* a, const auto* b) {
      return profile::extent_of(a->sum.weight) > profile::extent_of(b->sum.weight);
    });
    std::size_t widest = 0;
    for (const AnnotatedLine* const line : lines)
      widest = std::max(widest, cells_of(line_name(*line)));
    RINGSIDE_TRY(sink_.write("#  Share  Source line\n# ......  ...........\n"));
    for (const AnnotatedLine* const line : lines) {
      std::string text = line_name(*line);
      if (!line->text.empty()) text.append(widest - cells_of(text) + 2, ' ').append(line->text);
      RINGSIDE_TRY(write_share(line->sum));
      RINGSIDE_TRY(write_rest("  " + text));
    }
    return sink_.write("#\n");
  }

  Result<void> write_instructions() {
    if (function_.instructions.empty()) return {};
    const std::string name = options_.show_addresses || function_.size == 0 ? "Address" : "Offset";
    const std::size_t width = std::max(name.size(), place_width_ + 1);
    std::string dots(width, '.');
    RINGSIDE_TRY(sink_.write(fmt::format(
        "#  Share  {:>{}}  Instruction\n# ......  {}  ...........\n", name, width, dots)));
    const AnnotatedInstruction* previous = nullptr;
    for (const AnnotatedInstruction& shown : function_.instructions) {
      if (previous == nullptr || previous->line != shown.line || previous->inlined != shown.inlined)
        RINGSIDE_TRY(write_source(shown, width));
      previous = &shown;
      RINGSIDE_TRY(write_share(shown.sum));
      RINGSIDE_TRY(write_rest(fmt::format("  {:>{}}  {}",
                                          (shown.is_target ? ">" : "") + place_of(shown.address),
                                          width, code_of(shown) + text_of(shown))));
    }
    if (function_.outside.samples != 0) {
      RINGSIDE_TRY(write_share(function_.outside));
      RINGSIDE_TRY(write_rest("  at addresses of no instruction shown"));
    }
    return {};
  }

  // The source line of the instructions that follow, and the functions that they are inlined from.
  Result<void> write_source(const AnnotatedInstruction& shown, std::size_t width) {
    const AnnotatedLine& line = function_.lines[shown.line];
    std::string text(kShareWidth + 2, ' ');
    text += std::string(width, ' ') + "  ";
    if (!shown.inlined.empty())
      text += fmt::format("{} (inlined) ", annotation_.strings[shown.inlined.back()]);
    text += line_name(line);
    if (!line.text.empty()) text += "  " + line.text;
    return write_rest_of(0, text);
  }

  Result<void> write_share(const Sum& sum) {
    const std::uint64_t extent = profile::extent_of(function_.sum.weight);
    if (sum.samples == 0) return sink_.write(std::string(kShareWidth, ' '));
    const std::string share = format_share(sum.weight, extent) + "%";
    const std::string gap(kShareWidth - std::min(kShareWidth, share.size()), ' ');
    RINGSIDE_TRY(sink_.write(gap));
    const auto colour = colour_of_share(profile::extent_of(sum.weight), extent);
    return colour ? sink_.paint(share, *colour) : sink_.write(share);
  }
  // The rest of a line, behind a share.
  Result<void> write_rest(const std::string& text) { return write_rest_of(kShareWidth, text); }
  Result<void> write_rest_of(std::size_t used, std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    if (options_.width == 0) return sink_.write(text + "\n");
    return sink_.write(cut_end(text, std::max<std::size_t>(options_.width - used, 1)) + "\n");
  }

  [[nodiscard]] std::string place_of(GuestVirt address) const {
    if (options_.show_addresses || function_.size == 0) return fmt::format("{:x}", address.value);
    return fmt::format("{:x}", address - function_.start);
  }

  [[nodiscard]] std::string code_of(const AnnotatedInstruction& shown) const {
    if (!options_.show_code) return {};
    std::string text;
    for (const std::byte byte : shown.bytes)
      text += fmt::format("{:02x} ", std::to_integer<unsigned>(byte));
    return fmt::format("{:<{}} ", text, 3 * longest_code_);
  }

  // The mnemonic in a column of its own, and where a jump leads to: "↓ 4c" or "-> function".
  [[nodiscard]] std::string text_of(const AnnotatedInstruction& shown) const {
    constexpr int kMnemonicWidth = 7;
    const std::size_t space = std::min(shown.text.find(' '), shown.text.size());
    std::string operands = shown.text.substr(std::min(space + 1, shown.text.size()));
    if (shown.target) replace_target(shown, operands);
    std::string text =
        fmt::format("{:<{}} {}", shown.text.substr(0, space), kMnemonicWidth, operands);
    return text;
  }

  void replace_target(const AnnotatedInstruction& shown, std::string& operands) const {
    const std::string plain = fmt::format("{}", shown.target->address);
    const std::size_t at = operands.rfind(plain);
    if (shown.target->is_inside && at != std::string::npos) {
      const char* const arrow = shown.target->address > shown.address ? "↓ " : "↑ ";
      operands.replace(at, plain.size(), arrow + place_of(shown.target->address));
    } else if (shown.target->name != 0) {
      operands += fmt::format(" -> {}", annotation_.strings[shown.target->name]);
      if (shown.target->offset != 0) operands += fmt::format("+{:#x}", shown.target->offset);
    }
  }

  const Annotation& annotation_;
  const AnnotatedFunction& function_;
  const AnnotationOptions& options_;
  Sink& sink_;
  std::size_t longest_code_ = 0;
  std::size_t place_width_ = 0;
};

}  // namespace

Result<void> write_annotation(const Annotation& annotation, const AnnotationOptions& options,
                              Sink& sink) {
  for (std::size_t i = 0; i < annotation.functions; ++i) {
    if (i != 0) RINGSIDE_TRY(sink.write("\n"));
    const AnnotatedFunction function = annotation.function(i);
    RINGSIDE_TRY(Writer(annotation, function, options, sink).write());
  }
  if (annotation.left_out == 0) return {};
  return sink.write(
      fmt::format("\n# {} more function{}, with {}% of all samples: --functions shows them\n",
                  annotation.left_out, annotation.left_out == 1 ? "" : "s",
                  format_share(annotation.left_out_sum.weight, annotation.extent)));
}

}  // namespace ringside::exporters
