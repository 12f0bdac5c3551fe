#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importers/format.h"
#include "recording/sample_visitor.h"

namespace ringside::importers {

// A recording at that path.
class FileTarget final : public Target {
 public:
  explicit FileTarget(std::filesystem::path path) : path_(std::move(path)) {}
  Result<recording::Writer*> create(recording::Header header,
                                    const std::vector<recording::Source>& sources) override {
    RINGSIDE_ASSIGN(auto writer, recording::Writer::create(path_, header, sources));
    writer_.emplace(std::move(writer));
    return &*writer_;
  }
  [[nodiscard]] bool is_created() const { return writer_.has_value(); }
  [[nodiscard]] Result<void> finish() { return writer_ ? writer_->finish() : Result<void>{}; }

 private:
  std::filesystem::path path_;
  std::optional<recording::Writer> writer_;
};

// The recording that an import has made, as plain values.
class Recorded final : public recording::SampleVisitor {
 public:
  struct OneSample {
    recording::SampleInfo info;
    std::vector<std::int64_t> more_values;
    // Leaf first, all parts together: "name", "name (inlined)", "[image] name", or "0x…" for a
    // lookup address.
    std::vector<std::string> frames;
  };
  recording::Header header;
  std::vector<recording::Source> sources;
  std::vector<recording::Clock> clocks;
  std::vector<OneSample> samples;
  struct OneEvent {
    std::string type;
    std::uint64_t time = 0;
    std::vector<std::string> fields;  // "name value", a text as it is
    std::vector<std::string> frames;  // as a sample's
  };
  std::vector<OneEvent> happened;
  std::vector<recording::EventType> event_types;
  std::vector<recording::ImageInfo> images;
  std::vector<recording::Mapping> mappings;
  std::vector<recording::ThreadName> thread_names;
  std::map<std::uint32_t, recording::Statistics> statistics_of;  // by source
  std::vector<recording::RecordedFrame> frames{1};
  std::vector<std::string> texts{1};

  void source(const recording::Source& value) override { sources.push_back(value); }
  void clock(const recording::Clock& value) override { clocks.push_back(value); }
  void image(const recording::ImageInfo& value) override { images.push_back(value); }
  void mapping(const recording::Mapping& value) override { mappings.push_back(value); }
  void thread_name(const recording::ThreadName& value) override { thread_names.push_back(value); }
  void text(std::uint32_t, std::string_view value) override { texts.emplace_back(value); }
  void frame(std::uint32_t, const recording::RecordedFrame& value) override {
    frames.push_back(value);
  }
  void stack_node(std::uint32_t, const recording::StackNode& value) override {
    nodes_.push_back(value);
  }
  void statistics(const recording::Statistics& value) override {
    statistics_of[value.source] = value;
  }
  void sample(const recording::Sample& value) override {
    OneSample& one = samples.emplace_back();
    one.info = value.info;
    one.more_values = value.more_values;
    one.frames = frames_of(value);
  }
  void event_type(const recording::EventType& value) override { event_types.push_back(value); }
  void events(const recording::EventBatch& batch) override {
    const recording::EventType& type = event_types[batch.type - 1];
    for (std::size_t row = 0; row < batch.size(); ++row) {
      OneEvent& one = happened.emplace_back();
      one.type = type.name;
      one.time = batch.times[row];
      for (std::size_t n = 0; n < type.fields.size(); ++n) {
        const std::int64_t value = batch.fields[n].number(row);
        const bool is_text = type.fields[n].type == recording::FieldType::kText;
        one.fields.push_back(fmt::format(
            "{} {}", type.fields[n].name,
            is_text ? texts[static_cast<std::size_t>(value)] : fmt::format("{}", value)));
      }
      recording::Sample expanded;
      expand(batch.contexts[row], expanded);
      one.frames = frames_of(expanded);
    }
  }

 private:
  [[nodiscard]] std::vector<std::string> frames_of(const recording::Sample& sample) const {
    std::vector<std::string> texts_of_frames;
    for (const recording::StackRef& stack : sample.stacks) {
      if (stack.node == recording::kLostStack) {
        texts_of_frames.emplace_back("lost");
        continue;
      }
      for (std::uint32_t id = stack.node; id != 0; id = nodes_[id].parent)
        texts_of_frames.push_back(text_of(frames[nodes_[id].frame]));
    }
    return texts_of_frames;
  }
  [[nodiscard]] std::string text_of(const recording::RecordedFrame& frame) const {
    const std::string image = frame.image == 0 ? "" : "[" + images[frame.image - 1].name + "] ";
    if (frame.function == 0) return image + fmt::format("{:#x}", frame.lookup_address().value);
    return image + texts[frame.function] + (frame.inlined ? " (inlined)" : "");
  }

  std::vector<recording::StackNode> nodes_{1};
};

// Imports into a recording in the temporary folder and reads it.
class ImportTest : public ::testing::Test {
 protected:
  using Read = Result<Imported> (*)(std::span<const Input>, const ImportOptions&, Target&);

  ImportTest()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("ringside-import-{}", ::getpid())) {}
  ~ImportTest() override { std::filesystem::remove(path_); }

  // The error, where there is one, is in the result; the recording is empty then.
  Result<Imported> import(Read read, const std::vector<std::string>& texts,
                          const ImportOptions& options = {}) {
    recorded = {};
    std::vector<Input> inputs;
    for (const std::string& text : texts) inputs.push_back({"input", as_bytes(text), {}});
    FileTarget target(path_);
    auto result = read(inputs, options, target);
    EXPECT_TRUE(target.finish());
    if (!target.is_created()) return result;
    auto reader = recording::Reader::open(path_);
    EXPECT_TRUE(reader);
    recorded.header = reader->header();
    EXPECT_TRUE(reader->for_each(recorded));
    std::filesystem::remove(path_);
    return result;
  }

  Recorded recorded;

 private:
  std::filesystem::path path_;
};

}  // namespace ringside::importers
