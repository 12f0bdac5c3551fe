// The main() of the fuzzers in a build without libFuzzer: ringside_replay FUZZER PATH… runs every
// file that it is given, or every file in a folder that it is given, through the fuzz target once.
// Fails if there was nothing to run.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

// fuzzers.inc has a line FUZZER(name) for each.
#define FUZZER(name) \
  extern "C" int ringside_fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "fuzzers.inc"
#undef FUZZER

namespace {

using Fuzzer = int (*)(const std::uint8_t*, std::size_t);

Fuzzer fuzzer_named(std::string_view wanted) {
#define FUZZER(name) \
  if (wanted == #name) return ringside_fuzz_##name;
#include "fuzzers.inc"
#undef FUZZER
  return nullptr;
}

void replay(Fuzzer fuzzer, const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  fuzzer(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  const Fuzzer fuzzer = argc > 1 ? fuzzer_named(argv[1]) : nullptr;
  if (fuzzer == nullptr) {
    std::fputs("usage: ringside_replay FUZZER PATH...: the first word names no fuzzer\n", stderr);
    return 2;
  }
  std::size_t count = 0;
  for (int i = 2; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      replay(fuzzer, argv[i]);
      ++count;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) {
        replay(fuzzer, entry.path());
        ++count;
      }
    }
  }
  std::printf("%zu inputs replayed\n", count);
  return count == 0 ? 1 : 0;
}
