#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tuple>

#include "base/split.h"
#include "importers/importers_test_util.h"
#include "importers/perf_data/perf_data.h"

// Recordings that perf makes here, as `perf script` shows them.
namespace ringside::importers::perf_data {
namespace {

namespace fs = std::filesystem;

struct SeenSample {
  std::string comm;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t time = 0;  // ns, by perf's clock
  std::uint64_t period = 0;
  std::vector<std::string> frames;  // "ffffffff81000000" of the kernel, else the file's name
  auto operator<=>(const SeenSample&) const = default;
};

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  char block[65536];
  for (std::size_t size; (size = std::fread(block, 1, sizeof block, pipe)) != 0;)
    text.append(block, size);
  ::pclose(pipe);
  return text;
}

// "	ffffffff81000130 ([kernel.kallsyms])", "	7f0000001000 (/usr/bin/dash)".
std::string shown_frame(std::string_view line) {
  const std::string_view address = take_word(line, " \t");
  const std::size_t open = line.find('(');
  std::string_view dso = line.substr(open + 1, line.rfind(')') - open - 1);
  if (dso == "[kernel.kallsyms]") return std::string(address);
  dso = dso.substr(dso.rfind('/') + 1);
  return std::string(dso == "[unknown]" ? "" : dso);
}

// "sh 123/123 45.678901234: 250000 ", then frames, and an empty line.
std::vector<SeenSample> samples_of_perf(const std::string& text) {
  std::vector<SeenSample> samples;
  std::string_view rest = text;
  for (bool is_head = true; !rest.empty();) {
    std::string_view line = take_line(rest);
    if (line.empty()) {
      is_head = true;
    } else if (is_head) {
      is_head = false;
      SeenSample& one = samples.emplace_back();
      one.comm = take_word(line, " ");
      unsigned long long seconds = 0;
      unsigned long long ns = 0;
      unsigned long long period = 0;
      EXPECT_EQ(std::sscanf(std::string(line).c_str(), " %u/%u %llu.%llu: %llu", &one.pid, &one.tid,
                            &seconds, &ns, &period),
                5)
          << line;
      one.time = seconds * 1'000'000'000 + ns;
      one.period = period;
    } else {
      samples.back().frames.push_back(shown_frame(line));
    }
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

class RealPerfTest : public ImportTest {
 protected:
  RealPerfTest() { fs::create_directory(folder_); }
  ~RealPerfTest() override { fs::remove_all(folder_); }

  // Imports what `perf record OPTIONS` writes of a shell and its children; an empty text: perf is
  // not here, or may not.
  std::string recorded_by(const std::string& options, bool to_pipe) {
    const std::string work =
        "sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; (exec ls /usr/bin); true' ";
    static_cast<void>(output_of("perf record -q -e cpu-clock -F 2000 " + options + " -o " +
                                (to_pipe ? "- " : path_.string() + " ") + work +
                                (to_pipe ? " >" + path_.string() : ">/dev/null")));
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string shown_frame(const std::string& frame) const {
    constexpr std::string_view kKernel = "[kernel] 0x";
    if (frame.starts_with(kKernel)) return frame.substr(kKernel.size());
    return frame.starts_with('[') ? frame.substr(1, frame.rfind(']') - 1) : "";
  }
  [[nodiscard]] std::vector<SeenSample> samples_of_ours() const {
    std::vector<SeenSample> samples;
    for (const auto& one : recorded.samples) {
      SeenSample& sample = samples.emplace_back();
      sample.pid = one.info.pid.value_or(0);
      sample.tid = one.info.tid.value_or(0);
      sample.time = recorded.header.start_monotonic_ns + one.info.time_ns;
      sample.period = one.info.weight;
      for (const recording::ThreadName& name : recorded.thread_names)
        if (name.tid == sample.tid && name.time_ns <= one.info.time_ns) sample.comm = name.name;
      for (const std::string& frame : one.frames) sample.frames.push_back(shown_frame(frame));
    }
    std::sort(samples.begin(), samples.end());
    return samples;
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("ringside-real-perf-{}", ::getpid());
  fs::path path_ = folder_ / "perf.data";
};

// A return address is looked up before it; perf shows it as it is. Names in perf's table of the
// kernel are those at the address.
bool is_same_frame(const std::string& perf, const std::string& ours) {
  const auto number = [](const std::string& text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
  };
  if (perf == ours) return true;
  return number(perf) >> 63 != 0 && number(perf) - number(ours) <= 1;
}

TEST_F(RealPerfTest, GivesTheSamplesThatPerfScriptShows) {
  struct Case {
    const char* options;
    bool to_pipe;
  };
  for (const auto& [options, to_pipe] :
       {Case{"-g", false}, Case{"-g -z -W --all-cgroups", false}, Case{"-g", true}}) {
    SCOPED_TRACE(options);
    const std::string text = recorded_by(options, to_pipe);
    const auto perf = samples_of_perf(
        output_of("perf script --ns -F comm,pid,tid,time,period,ip,dso -i " + path_.string()));
    if (perf.empty()) GTEST_SKIP() << "perf record gives no samples here";
    const auto result = import(import_perf_data, {text});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->warnings.empty());
    const auto ours = samples_of_ours();
    ASSERT_EQ(ours.size(), perf.size());
    for (std::size_t i = 0; i < perf.size(); ++i) {
      SCOPED_TRACE(perf[i].time);
      const auto key = [](const SeenSample& sample) {
        return std::tie(sample.comm, sample.pid, sample.tid, sample.time, sample.period);
      };
      EXPECT_EQ(key(ours[i]), key(perf[i]));
      EXPECT_TRUE(std::equal(perf[i].frames.begin(), perf[i].frames.end(), ours[i].frames.begin(),
                             ours[i].frames.end(), is_same_frame))
          << fmt::format("{} frames of perf, {} of ours", perf[i].frames.size(),
                         ours[i].frames.size());
    }
  }
}

// perf's own unwinder ends early at times.
TEST_F(RealPerfTest, UnwindsCopiedStacksAsFarAsPerf) {
  const std::string text = recorded_by("--call-graph dwarf", false);
  const auto perf = samples_of_perf(output_of(
      "perf script --no-inline --ns -F comm,pid,tid,time,period,ip,dso -i " + path_.string()));
  if (perf.empty()) GTEST_SKIP() << "perf record gives no samples here";
  ASSERT_TRUE(import(import_perf_data, {text}));
  const auto ours = samples_of_ours();
  ASSERT_EQ(ours.size(), perf.size());
  std::size_t frames_of_perf = 0;
  std::size_t same = 0;
  for (std::size_t i = 0; i < perf.size(); ++i) {
    frames_of_perf += perf[i].frames.size();
    for (std::size_t n = 0; n < std::min(perf[i].frames.size(), ours[i].frames.size()); ++n)
      same += is_same_frame(perf[i].frames[n], ours[i].frames[n]) ? 1 : 0;
  }
  EXPECT_GT(frames_of_perf, 0);
  EXPECT_GE(static_cast<double>(same), 0.97 * static_cast<double>(frames_of_perf));
}

}  // namespace
}  // namespace ringside::importers::perf_data
