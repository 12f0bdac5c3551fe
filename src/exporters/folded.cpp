#include "exporters/folded.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "profile/sanitize.h"
#include "views/line_order.h"

namespace ringside::exporters {
namespace {

using profile::Profile;

void append_frame(std::string_view name, std::string& line) {
  if (!line.empty()) line += ';';
  line += name;
}

// Frames of the kernel get `mark` behind their name: all those above the user code that entered it.
void append_stack(const Profile& profile, const profile::SampleGroup& group, std::string_view mark,
                  std::string& line) {
  const std::vector<profile::FrameId> frames = profile.stacks.frames_of(group.stack);
  const std::size_t user = profile.stacks.frames_of(group.user_part).size();
  const bool in_kernel = profile.owner_of(group).level == PrivilegeLevel::kKernel;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    append_frame(profile.name(frames[i]), line);
    if ((in_kernel && i >= user) || is_kernel(profile.frames[frames[i]].kind)) line += mark;
  }
}

// A group's place among the lines.
struct Line {
  std::uint32_t first = 0;  // of what stands in front of the stack
  std::uint32_t stack = 0;
  const profile::SampleGroup* group = nullptr;
  [[nodiscard]] bool is_same(const Line& other) const {
    return first == other.first && stack == other.stack;
  }
};

// One line for all groups of the same stack, made when it is written.
class FoldedWriter {
 public:
  FoldedWriter(const Profile& profile, const FoldedOptions& options, Sink& sink)
      : profile_(profile), options_(options), sink_(sink) {}

  Result<void> write() {
    place_lines();
    for (std::size_t at = 0; at < lines_.size();) {
      std::size_t end = at + 1;
      while (end < lines_.size() && lines_[end].is_same(lines_[at])) ++end;
      RINGSIDE_TRY(write_lines(std::span(lines_).subspan(at, end - at)));
      at = end;
    }
    return {};
  }

 private:
  // The vCPU and the root, with the ';' behind them. Idle vCPUs stand among roots where there are
  // some, else among stacks.
  [[nodiscard]] std::string first_part(const views::Root& root) const {
    const profile::Owner& owner = profile_.owners[root.owner];
    std::string first = options_.per_vcpu ? views::vcpu_name(owner.vcpu) : "";
    const bool is_idle = owner.disposition == wire::Disposition::kIdle;
    const std::string name = root_name(profile_, root, options_.by);
    if (!name.empty() && (has_roots_ || !is_idle)) append_frame(name, first);
    return first.empty() || (is_idle && has_roots_) ? first : first + ';';
  }

  void place_lines() {
    std::map<views::Root, std::uint32_t> roots;
    const auto number_of = [&](const profile::SampleGroup& group) -> std::uint32_t& {
      return roots[root_of(profile_, group, options_.by)];
    };
    for (const profile::SampleGroup& group : profile_.samples)
      if (views::is_shown(profile_.owner_of(group), options_.show_idle)) number_of(group) = 0;
    has_roots_ = std::any_of(roots.begin(), roots.end(), [&](const auto& root) {
      return profile_.owners[root.first.owner].disposition == wire::Disposition::kSampled &&
             !root_name(profile_, root.first, options_.by).empty();
    });
    std::map<std::string, std::uint32_t> numbers;
    for (const auto& [root, number] : roots) numbers[first_part(root)];
    for (auto& [first, number] : numbers) {
      number = static_cast<std::uint32_t>(firsts_.size());
      firsts_.push_back(first);
    }
    for (auto& [root, number] : roots) number = numbers[first_part(root)];
    const views::LineOrder order(profile_);
    for (const profile::SampleGroup& group : profile_.samples)
      if (views::is_shown(profile_.owner_of(group), options_.show_idle))
        lines_.push_back({number_of(group), order.place(group.stack), &group});
    std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) {
      return std::tie(a.first, a.stack) < std::tie(b.first, b.stack);
    });
  }

  Result<void> write_lines(std::span<const Line> lines) {
    if (options_.annotate_kernel) return write_marked(lines);
    profile::Weight weight = 0;
    for (const Line& line : lines) weight += line.group->weight;
    return write_line(text_of(lines.front(), ""), weight);
  }

  // Stacks of one line may have marks at several frames.
  Result<void> write_marked(std::span<const Line> lines) {
    std::map<std::string, profile::Weight> weights;
    for (const Line& line : lines) weights[text_of(line, "_[k]")] += line.group->weight;
    for (const auto& [text, weight] : weights) RINGSIDE_TRY(write_line(text, weight));
    return {};
  }

  [[nodiscard]] std::string text_of(const Line& line, std::string_view mark) const {
    std::string text = firsts_[line.first];
    if (!profile_.is_sampled(*line.group) && has_roots_) return text;
    if (text.ends_with(';')) text.pop_back();
    if (profile_.is_sampled(*line.group))
      append_stack(profile_, *line.group, mark, text);
    else
      append_frame(profile::kIdleName, text);
    return text;
  }

  Result<void> write_line(const std::string& text, profile::Weight weight) {
    return sink_.write(fmt::format("{} {}\n", text, weight));
  }

  const Profile& profile_;
  const FoldedOptions& options_;
  Sink& sink_;
  bool has_roots_ = false;           // with names
  std::vector<std::string> firsts_;  // in their order
  std::vector<Line> lines_;
};

}  // namespace

Result<void> write_folded(const Profile& profile, const FoldedOptions& options, Sink& sink) {
  return FoldedWriter(profile, options, sink).write();
}

}  // namespace ringside::exporters
