#include "exporters/json_lines.h"

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "arch/arch_info.h"
#include "profile/sanitize.h"
#include "profile/thread_names.h"

namespace ringside::exporters {
namespace {

// `text`, sanitized as in every output, as a JSON string.
std::string json_string(std::string_view text) {
  using nlohmann::json;
  if (text.empty()) return "\"\"";
  return json(profile::sanitize(text)).dump(-1, ' ', false, json::error_handler_t::replace);
}

const char* text_of(PrivilegeLevel level) {
  constexpr const char* kNames[] = {"unknown", "kernel", "user", "firmware", "guest"};
  return kNames[static_cast<std::size_t>(level)];
}

const char* text_of(FrameKind kind) {
  constexpr const char* kNames[] = {"kernel", "user", "interrupt", "firmware", "guest"};
  return kNames[static_cast<std::size_t>(kind)];
}

class Lines final : public recording::Visitor {
 public:
  Lines(profile::FrameNamer& namer, Sink& sink) : namer_(namer), sink_(sink) {}

  void image(const recording::ImageInfo& value) override {
    images_[value.id] = value;
    write(fmt::format(R"({{"image":{},"path":{},"load_bias":"{:#x}"}})", json_string(value.name),
                      json_string(value.path), value.load_bias));
  }
  void mapping(const recording::Mapping& value) override { mappings_[value.id] = value; }
  void blob(const recording::Blob& value) override { namer_.blob(value); }
  void frame(std::uint32_t, const recording::RecordedFrame& value) override {
    frames_.push_back(described(value));
  }
  void stack_node(std::uint32_t, const recording::StackNode& value) override {
    nodes_.push_back(value);
  }

  void sample(const recording::Sample& value) override {
    std::string stacks;
    for (const recording::StackRef& ref : value.stacks) {
      if (!stacks.empty()) stacks += ',';
      stacks += stack(ref);
    }
    write(fmt::format(
        R"({{"time_ns":{},"vcpu":{},"level":"{}","disposition":{},{}"weight":{},"unit":{},"stacks":[{}]}})",
        value.info.time_ns, value.info.vcpu.value, text_of(value.info.level),
        json_string(recording::name_of(value.info.disposition)), owner(value.info),
        value.info.weight, json_string(recording::name_of(value.info.unit)), stacks));
  }

  void thread_name(const recording::ThreadName& value) override { names_.add(value); }

  [[nodiscard]] const Result<void>& result() const { return result_; }

 private:
  // The members that say whose time a sample was; those that are not known are left out.
  [[nodiscard]] std::string owner(const recording::SampleInfo& info) const {
    std::string members;
    if (info.pid) members += fmt::format(R"("pid":{},)", *info.pid);
    if (info.tid) members += fmt::format(R"("tid":{},)", *info.tid);
    if (!info.pid) return members;
    const auto called = names_.at(info.time_ns, *info.pid, info.tid);
    if (called.comm != 0)
      members += fmt::format(R"("comm":{},)", json_string(strings_[called.comm]));
    if (called.cgroup != 0)
      members += fmt::format(R"("cgroup":{},)", json_string(strings_[called.cgroup]));
    return members;
  }

  std::string described(const recording::RecordedFrame& frame) {
    const auto image = images_.find(frame.image);
    const auto mapping = mappings_.find(frame.mapping);
    profile::NamedFrame named;
    namer_.name({frame, image != images_.end() ? &image->second : nullptr,
                 mapping != mappings_.end() ? &mapping->second : nullptr},
                named);
    std::string functions;
    for (const std::string& function : named.functions)
      functions += (functions.empty() ? "" : ",") + json_string(function);
    std::string lines;
    for (const profile::SourceLine& line : named.lines)
      lines += (lines.empty() ? ",\"lines\":[" : ",") +
               json_string(line.line == 0 ? "" : fmt::format("{}:{}", line.file, line.line));
    if (!lines.empty()) lines += "]";
    return fmt::format(
        R"({{"address":"{}","exact":{},"kind":"{}",{}"rule":"{}","functions":[{}]{}}})",
        frame.address, frame.exact, text_of(frame.kind),
        image == images_.end() ? ""
                               : fmt::format(R"("image":{},)", json_string(image->second.name)),
        name_of(frame.source), functions, lines);
  }

  std::string stack(const recording::StackRef& ref) {
    std::string frames;
    if (ref.node < nodes_.size())  // kLostStack is not
      for (std::uint32_t id = ref.node; id != 0; id = nodes_[id].parent)
        frames += (frames.empty() ? "" : ",") + frames_[nodes_[id].frame];
    return fmt::format(R"({{"stop":"{}","stopped_at":"{}","frames":[{}]}})",
                       ref.node == recording::kLostStack ? "lost" : name_of(ref.stop),
                       ref.stopped_at, frames);
  }

  void write(const std::string& line) {
    if (result_) result_ = sink_.write(line + "\n");
  }

  profile::FrameNamer& namer_;
  Sink& sink_;
  Result<void> result_;
  profile::StringTable strings_;
  profile::ThreadNames names_{strings_};
  std::map<std::uint32_t, recording::ImageInfo> images_;
  std::map<std::uint32_t, recording::Mapping> mappings_;
  // By id; the entry 0 stands for none.
  std::vector<std::string> frames_{"null"};
  std::vector<recording::StackNode> nodes_{1};
};

}  // namespace

Result<void> write_json_lines(recording::Reader& reader, profile::FrameNamer& namer, Sink& sink) {
  const recording::Header& header = reader.header();
  RINGSIDE_TRY(sink.write(fmt::format(
      R"({{"arch":"{}","guest_os":{},"kernel":{},"engine":{},"interval_ns":{},"vcpus":{}}})"
      "\n",
      arch::name_of(header.arch), json_string(header.guest_os), json_string(header.kernel),
      json_string(header.engine), header.interval_ns, header.vcpu_count)));
  Lines lines(namer, sink);
  RINGSIDE_TRY(reader.for_each(lines));
  return lines.result();
}

}  // namespace ringside::exporters
