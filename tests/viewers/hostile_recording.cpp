// Writes a recording whose names are made to break lines, words, quotes and formats of the programs
// that read them: functions, threads, sources, values, events, fields and texts.
#include <fmt/core.h>

#include <array>
#include <string>
#include <vector>

#include "recording/writer.h"

namespace ringside {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kFunction = 0xffffffff81000000;
constexpr std::array<std::string_view, 11> kNames = {
    "\x1b]0;title\x07\x1b[31m",
    "two\nlines\r\n",
    "%s%n%p%%",
    "quote\"); REC->process",
    "back\\slash\\",
    "$start",
    "   spaces   in   it",
    "\xff\xfe\x80",
    "\xe2\x80\xae turned \xc2\x9b",
    "name\t[module]",
    "=> name (ffffffff81000000)",
};

recording::Header header() {
  recording::Header header;
  header.arch = Arch::kX86_64;
  header.vcpu_count = 2;
  header.interval_ns = kMs;
  header.engine = "tcg";
  header.guest_os = "linux";
  header.kernel = "kernel\n\x1b[31m";
  return header;
}

recording::Source source_of(std::string_view name) {
  recording::Source source;
  source.name = name;
  source.kind = recording::SourceKind::kProbe;
  source.values = {{"count", recording::WeightUnit::kCount, 1},
                   {std::string(name), recording::WeightUnit::kBytes, 1}};
  return source;
}

// A stack of three functions of that name: of a program, of the kernel, and of which only the name
// is known.
Result<std::vector<recording::StackRef>> stacks_of(recording::Writer& writer, std::size_t name) {
  RINGSIDE_ASSIGN(const std::uint32_t text, writer.add_text(kNames[name]));
  recording::RecordedFrame kernel;
  kernel.address = {kFunction + name};
  kernel.exact = true;
  kernel.function = text;
  recording::RecordedFrame nameless;
  nameless.function = text;
  recording::RecordedFrame user;
  user.kind = FrameKind::kUser;
  user.address = {0x401000 + name};
  user.function = text;
  return std::vector{writer.add_stack(std::vector{kernel, nameless, user})};
}

Result<void> add_all(recording::Writer& writer, std::size_t name) {
  const auto thread = static_cast<std::uint32_t>(name + 1);
  RINGSIDE_TRY(writer.add_thread_name({0, thread, thread, 0, std::string(kNames[name]), {}}));
  RINGSIDE_ASSIGN(const auto stacks, stacks_of(writer, name));
  recording::SampleInfo info;
  info.vcpu = {static_cast<std::uint16_t>(name % 2)};
  info.level = PrivilegeLevel::kKernel;
  info.pid = info.tid = thread;
  info.time_ns = name * kMs;
  info.source = static_cast<std::uint32_t>(name + 1);
  RINGSIDE_TRY(writer.add_sample(info, stacks, std::vector<std::int64_t>{-7}));

  recording::EventType type;
  type.name = kNames[name];
  type.source = info.source;
  using recording::FieldType;
  type.fields = {{std::string(kNames[name]), FieldType::kText, {}},
                 {std::string(kNames[name]) + " ", FieldType::kSymbol, {}},
                 {std::string(kNames[name]) + "  ", FieldType::kBytes, {}}};
  recording::EventBatch batch;
  RINGSIDE_ASSIGN(batch.type, writer.add_event_type(type));
  batch.times = {name * kMs};
  batch.contexts = {writer.add_context(info, stacks)};
  batch.fields.resize(type.fields.size());
  RINGSIDE_ASSIGN(const std::uint32_t text, writer.add_text(kNames[name]));
  recording::RecordedFrame symbol;
  symbol.function = text;
  batch.fields[0].numbers = {text};
  batch.fields[1].numbers = {writer.add_frame(symbol)};
  batch.fields[2].bytes = {std::string(kNames[name])};
  return writer.add_events(batch);
}

Result<void> write(const std::string& path) {
  std::vector<recording::Source> sources;
  for (const std::string_view name : kNames) sources.push_back(source_of(name));
  RINGSIDE_ASSIGN(auto writer, recording::Writer::create(path, header(), sources));
  for (std::size_t name = 0; name < kNames.size(); ++name) RINGSIDE_TRY(add_all(writer, name));
  return writer.finish();
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: hostile_recording FILE\n");
    return 2;
  }
  if (const auto written = ringside::write(argv[1]); !written) {
    fmt::print(stderr, "hostile_recording: {}\n", written.error().message);
    return 1;
  }
  return 0;
}
