#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "importers/importers_test_util.h"
#include "importers/redox/redox_rings.h"
#include "wire/redox/ring_test_util.h"

// Rings with known samples, of which what is read is what was put into them, less what was
// overwritten or cut.
namespace ringside::importers {
namespace {

using namespace wire::redox;

// A sample as it is read: its callers may be the first of those that it had.
struct ReadSample {
  TrueSample sample;
  std::uint16_t cpu = 0;
};

// The longest piece of the truth that begins with what `words` of the sample have; nothing where
// too few are there.
std::optional<TrueSample> cut_to(char format, TrueSample sample, std::size_t words) {
  const std::size_t head = format == 'A' ? 2 : 4;
  if (words < head) return std::nullopt;
  sample.callers.resize(std::min(sample.callers.size(), words - head));
  return sample;
}

class RingProperty : public ImportTest, public ::testing::WithParamInterface<char> {
 protected:
  [[nodiscard]] char format() const { return GetParam(); }

  // All samples in the order in which they were recorded. Counters are those above `first`.
  std::vector<ReadSample> read(const std::vector<std::string>& texts, std::uint64_t first) {
    const auto imported = import(format() == 'A' ? import_redox_a : import_redox_b, texts);
    EXPECT_TRUE(imported) << imported.error().message;
    warnings = imported ? imported->warnings : std::vector<std::string>();
    std::vector<ReadSample> samples;
    for (const auto& one : recorded.samples) {
      ReadSample& read = samples.emplace_back();
      read.cpu = one.info.vcpu.value;
      read.sample.pc = std::stoull(one.frames.at(0), nullptr, 16);
      read.sample.counter = one.info.time_ns + first;
      read.sample.context = one.info.pid.value_or(0xffffffff);
      for (std::size_t i = 1; i < one.frames.size(); ++i)
        read.sample.callers.push_back(std::stoull(one.frames[i], nullptr, 16) + 1);
    }
    return samples;
  }

  void expect_same(const std::vector<ReadSample>& found, const std::vector<TrueSample>& truth) {
    ASSERT_EQ(found.size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) ASSERT_EQ(found[i].sample, truth[i]) << i;
  }

  RingData words_of_all(const std::vector<TrueSample>& samples) {
    RingData all;
    for (const TrueSample& sample : samples)
      for (const std::uint64_t word : words_of(format(), sample)) all.push_back(word);
    return all;
  }

  std::vector<std::string> warnings;
};

TEST_P(RingProperty, AllThatWasTakenOutIsRead) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto samples = random_samples(format(), 200, seed);
    expect_same(read({text_of(words_of_all(samples))}, samples.front().counter), samples);
    EXPECT_TRUE(warnings.empty());
    EXPECT_EQ(recorded.statistics_of[1].due, samples.size());
  }
}

// The file is a part of what was taken out, from any word to any byte.
TEST_P(RingProperty, APartHasTheSamplesThatBeginInIt) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    const auto samples = random_samples(format(), 40, seed);
    const std::string text = text_of(words_of_all(samples));
    const std::size_t begin = random() % 100;  // words
    const std::size_t end = text.size() - random() % 400;
    std::vector<TrueSample> truth;
    std::size_t at = 0;
    for (const TrueSample& sample : samples) {
      const std::size_t words = words_of(format(), sample).size();
      if (at >= begin) {
        const std::size_t left = end / 8 > at ? std::min(words, end / 8 - at) : 0;
        if (auto cut = cut_to(format(), sample, left)) truth.push_back(std::move(*cut));
      }
      at += words;
    }
    const auto found = read({text.substr(begin * 8, end - begin * 8)}, truth.front().counter);
    ASSERT_NO_FATAL_FAILURE(expect_same(found, truth)) << seed;
  }
}

// Whoever takes words out of the kernel's ring may be too slow.
TEST_P(RingProperty, WhatHadNoRoomIsCut) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    KernelRing ring(128);
    RingData taken;
    std::vector<TrueSample> truth;
    std::uint64_t lost = 0;
    for (const TrueSample& sample : random_samples(format(), 200, seed)) {
      const std::size_t put = ring.put(words_of(format(), sample));
      if (auto cut = cut_to(format(), sample, put))
        truth.push_back(std::move(*cut));
      else
        lost += put == 0 ? 0 : 1;
      if (random() % 4 == 0) ring.take(random() % 128, taken);
    }
    ring.take(128, taken);
    const auto found = read({text_of(taken)}, truth.front().counter);
    ASSERT_NO_FATAL_FAILURE(expect_same(found, truth)) << seed;
    EXPECT_EQ(recorded.statistics_of[1].lost, lost);
    EXPECT_EQ(recorded.statistics_of[1].due, truth.size() + lost);
  }
}

// In format A nothing says where the newest sample ends, and only where it was is sure.
TEST_P(RingProperty, TheMemoryOfARingHasTheNewestSamples) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    const auto samples = random_samples(format(), 10 + random() % 300, seed);
    OverwritingRing ring(1024);
    std::vector<std::size_t> begins;
    std::size_t at = 0;
    for (const TrueSample& sample : samples) {
      const RingData words = words_of(format(), sample);
      begins.push_back(at);
      at += words.size();
      ring.put(words);
    }
    std::vector<TrueSample> truth;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (begins[i] >= ring.overwritten()) truth.push_back(samples[i]);
    auto found = read({text_of(ring.memory())}, truth.front().counter);
    EXPECT_TRUE(warnings.empty()) << seed << " " << warnings[0];
    if (format() == 'A' && ring.is_full() && found.back().sample.callers.empty())
      truth.back().callers.clear();
    ASSERT_NO_FATAL_FAILURE(expect_same(found, truth)) << seed;
  }
}

TEST_P(RingProperty, CpusAreMergedInOrderOfTime) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<std::string> texts;
    std::vector<ReadSample> truth;
    for (std::uint16_t cpu = 0; cpu < 7; ++cpu) {
      const auto samples = random_samples(format(), 30 * cpu, 100 * seed + cpu);
      texts.push_back(text_of(words_of_all(samples)));
      for (const TrueSample& sample : samples) truth.push_back({sample, cpu});
    }
    std::stable_sort(truth.begin(), truth.end(), [](const ReadSample& a, const ReadSample& b) {
      return a.sample.counter < b.sample.counter;
    });
    const auto found = read(texts, truth.front().sample.counter);
    ASSERT_EQ(found.size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      EXPECT_EQ(found[i].sample, truth[i].sample);
      EXPECT_EQ(found[i].cpu, truth[i].cpu);
    }
  }
}

// A word that is damaged costs the sample that it is in, and in format A the one before may be cut
// or get frames. Those further away stay as they were.
TEST_P(RingProperty, ADamagedWordIsNotFarReaching) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    const auto samples = random_samples(format(), 40, seed);
    RingData words = words_of_all(samples);
    const std::size_t damaged = random() % words.size();
    words[damaged] = seed % 3 == 0 ? words[damaged] ^ std::uint64_t{1} << random() % 64 : random();
    std::size_t at = 0;
    std::size_t hit = 0;
    while (at + words_of(format(), samples[hit]).size() <= damaged)
      at += words_of(format(), samples[hit++]).size();
    const auto found = read({text_of(words)}, 0);
    ASSERT_GE(found.size() + 1, samples.size());
    ASSERT_LE(found.size(), samples.size() + 1);
    const auto same = [](const TrueSample& a, const TrueSample& b) {
      return a.pc == b.pc && a.callers == b.callers && a.context == b.context;
    };
    for (std::size_t i = 0; i + 1 < hit; ++i)
      EXPECT_TRUE(same(found[i].sample, samples[i])) << seed << " " << i;
    for (std::size_t i = 1; i + hit + 1 <= samples.size() - 1; ++i)
      EXPECT_TRUE(same(found[found.size() - i].sample, samples[samples.size() - i])) << seed;
  }
}

// Times of all samples of a recording grow, whatever is in the file.
TEST_P(RingProperty, AnyCutAndAnyDamageIsRead) {
  const auto samples = random_samples(format(), 12, 1);
  const std::string whole = text_of(words_of_all(samples));
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto imported =
        import(format() == 'A' ? import_redox_a : import_redox_b, {whole.substr(0, size)});
    EXPECT_EQ(imported.has_value(), !recorded.samples.empty()) << size;
  }
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::string text = whole;
    for (int n = 0; n < 1 + round % 20; ++n)
      text[random() % text.size()] = static_cast<char>(random());
    if (!import(format() == 'A' ? import_redox_a : import_redox_b, {text})) continue;
    for (std::size_t i = 1; i < recorded.samples.size(); ++i)
      EXPECT_GE(recorded.samples[i].info.time_ns, recorded.samples[i - 1].info.time_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RingProperty, ::testing::Values('A', 'B'));

}  // namespace
}  // namespace ringside::importers
