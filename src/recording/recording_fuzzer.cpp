#include <cstdint>
#include <cstdlib>

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto reader = Reader::open(std::as_bytes(std::span(data, size)), "fuzz");
  if (!reader) return 0;
  Checker checker;
  (void)reader->for_each(checker);
  (void)reader->damage();
  return 0;
}
