#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "recording/block.h"
#include "recording/reader.h"

namespace {

using namespace ringside;
using namespace ringside::recording;

// Checks what Visitor promises about ids.
struct Checker : Visitor {
  void frame(std::uint32_t id, const RecordedFrame&) override { check(id == ++frames); }
  void stack_node(std::uint32_t id, const StackNode& node) override {
    check(id == ++nodes && node.parent < id && node.frame >= 1 && node.frame <= frames);
  }
  void sample(const Sample& sample) override {
    for (const StackRef& ref : sample.stacks) check(ref.node <= nodes || ref.node == kLostStack);
  }
  static void check(bool good) {
    if (!good) std::abort();
  }
  std::uint32_t frames = 0;
  std::uint32_t nodes = 0;
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
  std::string file = file_header() + encoder.encode(BlockKind::kRecords, 0, text);
  file += encoder.encode(BlockKind::kRecords, 2, text.substr(text.size() / 2));
  read(as_bytes(file));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  read_as_payload(bytes);
  return 0;
}
