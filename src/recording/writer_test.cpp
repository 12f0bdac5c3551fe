#include "recording/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "recording/interner.h"
#include "recording/recording_test_util.h"

namespace ringside::recording {
namespace {

using testing::collect;
using ::testing::HasSubstr;
using testing::make_stack;
using testing::sampled;
using testing::TempDir;

TEST(Writer, AnOlderFileBecomesOld) {
  TempDir dir;
  for (const char* engine : {"first", "second", "third"}) {
    Header header;
    header.engine = engine;
    auto writer = Writer::create(dir / "a.data", header);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->finish());
  }
  EXPECT_EQ(Reader::open(dir / "a.data")->header().engine, "third");
  EXPECT_EQ(Reader::open(dir / "a.data.old")->header().engine, "second");
}

TEST(Writer, ErrorsNameTheFile) {
  const auto missing = Writer::create("/nonexistent/folder/a.data", {});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("/nonexistent/folder/a.data"));
  const auto full = Writer::create("/dev/full", {});
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("/dev/full"));
  EXPECT_THAT(full.error().message, HasSubstr("No space left"));
}

// RLIMIT_FSIZE stands for a full disk: the writes up to it succeed, as on a disk with little space.
TEST(Writer, AFullDiskLeavesWholeBlocks) {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2500, 2500};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto writer = Writer::create(dir / "a.data", {});
    std::uint64_t n = 0;
    for (;; ++n) {
      const Stack stack = make_stack({n * 977, n * 31, n});
      auto result = writer->add_sample(sampled(n), &stack);
      if (result) result = writer->flush();
      const std::string how = "ringside report -i " + (dir / "a.data").string();
      if (!result) ::_exit(result.error().message.find(how) == std::string::npos ? 2 : 0);
      if (n == 10'000) ::_exit(3);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->damage(), "its writer did not finish it");
  EXPECT_GT(collect(*reader).samples.size(), 10u);
}

TEST(Writer, WhatWasFlushedSurvivesSigkill) {
  TempDir dir;
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = Writer::create(dir / "a.data", {});
    const Stack stack = make_stack({1, 2});
    // 500 ms of sample time are one block: the first three seconds must be in the file.
    for (std::uint64_t ms = 0; ms <= 3000; ++ms)
      (void)writer->add_sample(sampled(ms * 1'000'000), &stack);
    (void)!::write(pipe_ends[1], "x", 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe_ends[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->complete());
  EXPECT_EQ(reader->lost_blocks(), 0u);
  EXPECT_GE(collect(*reader).samples.size(), 2999u);
}

TEST(Writer, ErrorsStick) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  ImageInfo image;
  image.name.assign(5 << 20, 'x');
  ASSERT_TRUE(writer->add_image(image));
  ASSERT_FALSE(writer->flush());
  ASSERT_FALSE(writer->add_sample(sampled(1), nullptr));
  const auto again = writer->finish();
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("a.data"));
}

// A guest may begin hundreds of processes a second, whose stacks are the same.
TEST(Writer, LongTextsAndBytesFitIntoBlocks) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  std::mt19937 random(1);
  std::string text(60'000, '\0');
  for (int i = 0; i < 100; ++i) {
    for (char& c : text) c = static_cast<char>(random());
    ASSERT_TRUE(writer->add_text(text));
  }
  ASSERT_TRUE(writer->add_event_type({0, "event", 1, {{"bytes", FieldType::kBytes, {}}}}));
  EventBatch batch{1, 0, {}, {}, {}, {}, {{}}};
  for (std::uint64_t i = 0; i < 5000; ++i) {
    batch.times.push_back(i);
    batch.contexts.push_back(writer->add_context({}, {}));
    batch.fields[0].bytes.push_back(std::string(3000, static_cast<char>(i)));
  }
  ASSERT_TRUE(writer->add_events(batch));
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const testing::Collector seen = collect(*reader);
  EXPECT_EQ(seen.texts.size(), 101u);
  EXPECT_EQ(seen.texts.back(), text);
  std::uint64_t row = 0;
  for (const EventBatch& part : seen.event_batches)
    for (const std::string& bytes : part.fields[0].bytes)
      EXPECT_EQ(bytes, std::string(3000, static_cast<char>(row++)));
  EXPECT_EQ(row, 5000u);
}

TEST(Writer, AProcessTakesLittleMemory) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  const Stack stack = make_stack({1, 2, 3});
  std::size_t before = 0;
  for (std::uint64_t i = 1; i <= 101'000; ++i) {
    SampleInfo info = sampled(i);
    info.pid = static_cast<std::uint32_t>(i);
    info.address_space = i;
    ASSERT_TRUE(writer->add_sample(info, &stack));
    if (i == 1'000) before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  }
  EXPECT_LT(::mallinfo2().uordblks + ::mallinfo2().hblkhd, before + 100'000 * 200);
}

TEST(NumberTable, ForgetsWhatWasNotSeenForLong) {
  struct Hash {
    std::uint64_t operator()(std::uint64_t key) const { return mixed(key); }
  };
  NumberTable<std::uint64_t, Hash, 100> table;
  EXPECT_EQ(table.number(0), 1u);
  EXPECT_EQ(table.number(7), 2u);
  std::uint32_t last = 2;
  for (std::uint64_t key = 1000; key < 21'000; ++key) {
    const std::uint32_t number = table.number(key);
    EXPECT_EQ(number, last + 1) << "no number is given twice";
    last = number;
    EXPECT_EQ(table.number(0), 1u) << "it is seen all the time";
    EXPECT_EQ(table.next(), last + 1);
  }
  EXPECT_EQ(table.number(7), last + 1) << "it was forgotten";
}

TEST(Writer, ADestroyedWriterKeepsItsSamples) {
  TempDir dir;
  {
    auto writer = Writer::create(dir / "a.data", {});
    ASSERT_TRUE(writer);
    const Stack stack = make_stack({1});
    ASSERT_TRUE(writer->add_sample(sampled(1), &stack));
    Writer moved = std::move(*writer);
    ASSERT_TRUE(moved.add_sample(sampled(2), &stack));
  }
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->complete());
  EXPECT_EQ(collect(*reader).samples.size(), 2u);
}

}  // namespace
}  // namespace ringside::recording
