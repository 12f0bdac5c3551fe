#include "annotation/similar_names.h"

#include <gtest/gtest.h>

namespace ringside::annotation {
namespace {

using Names = std::vector<std::string>;

TEST(SimilarNames, FewLettersDiffer) {
  EXPECT_EQ(similar_names("schedul", {{"schedule", 1}, {"sysfs_read", 9}}), Names{"schedule"});
  EXPECT_EQ(similar_names("vfs_raed", {{"vfs_read", 1}, {"vfs_write", 1}}), Names{"vfs_read"});
}

TEST(SimilarNames, PartsOfNamesAreSimilar) {
  EXPECT_EQ(similar_names("copy_user", {{"copy_user_generic_string", 1}, {"schedule", 1}}),
            Names{"copy_user_generic_string"});
  EXPECT_EQ(similar_names("schedule.cold", {{"schedule", 1}}), Names{"schedule"});
}

TEST(SimilarNames, TheMostSimilarThenTheHeaviestComeFirst) {
  EXPECT_EQ(similar_names("abcdef", {{"abcdeg", 1}, {"abcdeh", 5}, {"abcdff", 2}, {"abxdeg", 9}}),
            (Names{"abcdeh", "abcdff", "abcdeg", "abxdeg"}));
}

TEST(SimilarNames, NothingIsSimilar) {
  EXPECT_EQ(similar_names("zz", {{"schedule", 1}, {"zoo", 1}}), Names{});
  EXPECT_EQ(similar_names("f", {{std::string(10'000'000, 'f'), 1}}), Names{});
  EXPECT_EQ(similar_names("", {{"schedule", 1}}), Names{});
}

}  // namespace
}  // namespace ringside::annotation
