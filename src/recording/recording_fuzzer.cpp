#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "recording/block.h"
#include "recording/sample_visitor.h"

namespace {

using namespace ringside;
using namespace ringside::recording;

// Checks what Visitor promises about ids.
struct Checker : SampleVisitor {
  void frame(std::uint32_t id, const RecordedFrame& frame) override {
    check(id == ++frames && frame.function <= texts && frame.file <= texts);
  }
  void stack_node(std::uint32_t id, const StackNode& node) override {
    check(id == ++nodes && node.parent < id && node.frame >= 1 && node.frame <= frames);
  }
  void text(std::uint32_t id, std::string_view) override { check(id == ++texts); }
  void source(const Source& source) override {
    check(sources.insert(source.id).second && !source.values.empty());
  }
  void thread(std::uint32_t id, const Thread& thread) override {
    check(id == ++threads);
    SampleVisitor::thread(id, thread);
  }
  void stack_list(std::uint32_t id, const StackList& list) override {
    check(id == ++lists && list.rest < id &&
          (list.stack.node <= nodes || list.stack.node == kLostStack));
    SampleVisitor::stack_list(id, list);
  }
  void context(std::uint32_t id, const Context& context) override {
    check(id == ++contexts && context.thread <= threads && context.stacks <= lists &&
          context.waits_for <= texts);
    SampleVisitor::context(id, context);
  }
  void sample_batch(const SampleBatch& batch) override {
    check(sources.count(batch.source) == 1 && batch.contexts.size() == batch.size());
    for (const std::uint32_t context : batch.contexts) check(context >= 1 && context <= contexts);
    check(batch.pauses.empty() || batch.pauses.size() == batch.size());
    for (const auto& values : batch.values) check(values.empty() || values.size() == batch.size());
    SampleVisitor::sample_batch(batch);
  }
  void sample(const Sample& sample) override { check(sample.stacks.size() <= kMostStacks); }
  void event_type(const EventType& type) override {
    check(sources.count(type.source) == 1 && fields.try_emplace(type.id, type.fields).second);
  }
  void events(const EventBatch& batch) override {
    const std::vector<EventField>& of_type = fields.at(batch.type);
    check(batch.contexts.size() == batch.size() && batch.fields.size() == of_type.size());
    for (const std::uint32_t context : batch.contexts) check(context >= 1 && context <= contexts);
    check(batch.durations.empty() || batch.durations.size() == batch.size());
    check(batch.keys.empty() || batch.keys.size() == batch.size());
    for (std::size_t i = 0; i < of_type.size(); ++i) {
      const EventColumn& column = batch.fields[i];
      check(column.numbers.empty() || column.numbers.size() == batch.size());
      check(column.bytes.empty() || column.bytes.size() == batch.size());
      for (const std::int64_t number : column.numbers) {
        if (of_type[i].type == FieldType::kText) check(number >= 0 && number <= texts);
        if (of_type[i].type == FieldType::kSymbol) check(number >= 0 && number <= frames);
      }
    }
  }
  void counter_set(const CounterSet& set) override {
    check(sources.count(set.source) == 1 && !set.key.empty() &&
          keys.try_emplace(set.id, set.key.size()).second);
  }
  void counters(const CounterBatch& batch) override {
    check(batch.size() > 0 && batch.keys.size() == keys.at(batch.set));
    for (const auto& part : batch.keys) check(part.empty() || part.size() == batch.size());
    for (const auto& values : batch.values) check(values.empty() || values.size() == batch.size());
  }
  static void check(bool good) {
    if (!good) std::abort();
  }
  std::uint32_t frames = 0;
  std::uint32_t nodes = 0;
  std::uint32_t texts = 0;
  std::uint32_t threads = 0;
  std::uint32_t lists = 0;
  std::uint32_t contexts = 0;
  std::set<std::uint32_t> sources;
  std::map<std::uint32_t, std::vector<EventField>> fields;  // by type
  std::map<std::uint32_t, std::size_t> keys;                // by set
};

void read(Bytes file) {
  auto reader = Reader::open(file, "fuzz");
  if (!reader) return;
  Checker checker;
  (void)reader->for_each(checker);
  (void)reader->damage();
}

// The checksums keep a fuzzer from what stands behind them, so the input is also read as the
// records of an intact block, and as those of two.
void read_as_payload(Bytes payload) {
  if (payload.size() > kMaxBlockSize) return;
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  static BlockEncoder encoder;
  const std::string blocks = encoder.encode(BlockKind::kRecords, 0, text) +
                             encoder.encode(BlockKind::kRecords, 2, text.substr(text.size() / 2));
  for (const std::uint16_t major : {kOldestMajorVersion, kMajorVersion}) {
    const std::string file = file_header(major) + blocks;
    read(as_bytes(file));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  read_as_payload(bytes);
  return 0;
}
