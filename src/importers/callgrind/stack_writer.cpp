#include "importers/callgrind/stack_writer.h"

#include "profile/sanitize.h"

namespace ringside::importers::callgrind {
namespace {

constexpr std::string_view kProcessObject = "[process]";
constexpr std::string_view kImageObject = "[module]";
constexpr std::string_view kNobody = "[all]";
constexpr std::size_t kLongestName = 4096;  // bytes of a path or a process' name

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

Result<void> StackWriter::name_processes(std::string_view name) {
  name = base_name(name).substr(0, kLongestName);
  if (name.empty()) return {};
  for (const CallGraph::Thread& thread : graph_.threads()) {
    if (thread.pid == 0) continue;
    recording::ThreadName called;
    called.pid = thread.pid;
    called.tid = thread.number;  // 0: the whole process
    called.name = name;
    RINGSIDE_TRY(writer_.add_thread_name(called));
  }
  return {};
}

Result<void> StackWriter::add(const EstimatedStack& stack) {
  recording::SampleInfo info;
  info.time_ns = count_;
  info.vcpu = recording::kNoVcpu;
  const CallGraph::Thread& thread =
      graph_.threads()[graph_.function(stack.spots.front().function).thread];
  if (thread.pid != 0) info.pid = thread.pid;
  if (thread.number != 0) info.tid = thread.number;
  RINGSIDE_TRY(collect(stack, info));
  info.weight = static_cast<std::uint64_t>(stack.costs.front());
  std::vector<recording::StackRef> stacks;
  if (!frames_.empty()) stacks.push_back(writer_.add_stack(frames_));
  if (stack.is_cut && !stacks.empty()) stacks.front().stop = StopReason::kTooDeep;
  ++count_;
  cut_ += stack.is_cut ? 1 : 0;
  return writer_.add_sample(info, stacks, std::span(stack.costs).subspan(1));
}

// The frames of a stack, and its process where that is one of them.
Result<void> StackWriter::collect(const EstimatedStack& stack, recording::SampleInfo& info) {
  frames_.clear();
  for (const Spot& spot : stack.spots) {
    RINGSIDE_ASSIGN(const Known* const function, known(spot.function));
    if (function->role == Role::kProcess) RINGSIDE_TRY(set_process(spot.function, info));
    if (function->role != Role::kCode) continue;
    recording::RecordedFrame frame;
    frame.exact = true;
    frame.kind = FrameKind::kCode;
    frame.function = function->name;
    frame.image = function->image;
    frame.line = spot.line;
    RINGSIDE_ASSIGN(frame.file, recorded(spot.file));
    frames_.push_back(frame);
  }
  return {};
}

Result<const StackWriter::Known*> StackWriter::known(std::uint32_t number) {
  Known& known = functions_[number];
  if (known.name != 0) return &known;
  const Function& function = graph_.function(number);
  const std::string_view object = texts_[function.object];
  if (object == kProcessObject) known.role = Role::kProcess;
  if (object == kImageObject) known.role = Role::kImage;
  if (known.role == Role::kCode) {
    RINGSIDE_ASSIGN(known.image, image_of(function.object));
  }
  const std::string_view name = function.name == 0 ? "???" : texts_[function.name];
  RINGSIDE_ASSIGN(known.name, writer_.add_text(name));
  return &known;
}

Result<std::uint32_t> StackWriter::image_of(std::uint32_t object) {
  if (object == 0) return 0;
  const auto [known, added] = images_.try_emplace(object);
  if (!added) return known->second;
  const std::string_view path = texts_[object].substr(0, kLongestName);
  recording::ImageInfo image;
  image.name = base_name(path);
  if (path.starts_with('/')) image.path = path;
  RINGSIDE_ASSIGN(known->second, writer_.add_image(image));
  return known->second;
}

Result<std::uint32_t> StackWriter::recorded(std::uint32_t text) {
  if (text == 0) return 0;
  const auto [known, added] = files_.try_emplace(text);
  if (added) {
    RINGSIDE_ASSIGN(known->second, writer_.add_text(texts_[text]));
  }
  return known->second;
}

// Ringside's own export has names of processes, and idle vCPUs as a function of theirs.
Result<void> StackWriter::set_process(std::uint32_t number, recording::SampleInfo& info) {
  const std::uint32_t text = graph_.function(number).name;
  const std::string_view name = texts_[text].substr(0, kLongestName);
  if (name == profile::kIdleName) info.disposition = wire::Disposition::kIdle;
  if (name.empty() || name == kNobody || name == profile::kIdleName || name == profile::kNobodyName)
    return {};
  const auto [pid, added] = pids_.try_emplace(text, static_cast<std::uint32_t>(pids_.size() + 1));
  info.pid = pid->second;
  if (!added) return {};
  recording::ThreadName called;
  called.time_ns = info.time_ns;
  called.pid = pid->second;
  called.name = name;
  called.of_many = true;
  return writer_.add_thread_name(called);
}

}  // namespace ringside::importers::callgrind
