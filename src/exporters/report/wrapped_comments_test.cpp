#include "exporters/report/wrapped_comments.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringside::exporters {
namespace {

std::string wrapped(const std::vector<std::string>& pieces, std::size_t width) {
  StringSink sink;
  WrappedComments comments(sink, width);
  for (const std::string& piece : pieces) EXPECT_TRUE(comments.write(piece));
  return sink.text();
}

TEST(WrappedComments, BreaksCommentsAlone) {
  EXPECT_EQ(wrapped({"# one two three four\nnot a comment at all\n"}, 16),
            "# one two three\n#     four\nnot a comment at all\n");
  EXPECT_EQ(wrapped({"# one two three\n#\n\n"}, 16), "# one two three\n#\n\n");
}

TEST(WrappedComments, TakesTextInPieces) {
  EXPECT_EQ(wrapped({"#", " one two", " three fo", "ur\nx", "# y is no comm", "ent\n"}, 16),
            "# one two three\n#     four\nx# y is no comment\n");
}

TEST(WrappedComments, ALastCommentNeedsNoLineEnd) {
  StringSink sink;
  WrappedComments comments(sink, 16);
  EXPECT_TRUE(comments.write("# one two three four"));
  EXPECT_TRUE(comments.finish());
  EXPECT_TRUE(comments.finish());
  EXPECT_EQ(sink.text(), "# one two three\n#     four\n");
}

TEST(WrappedComments, ALineThatBeginsInColourIsNone) {
  StringSink sink;
  WrappedComments comments(sink, 10);
  EXPECT_TRUE(comments.paint("12%", Colour::kRed));
  EXPECT_TRUE(comments.write("# one two three four\n"));
  EXPECT_EQ(sink.text(), "12%# one two three four\n");
}

}  // namespace
}  // namespace ringside::exporters
