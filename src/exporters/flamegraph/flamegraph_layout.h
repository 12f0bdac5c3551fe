#pragma once

#include <cstddef>
#include <string>

namespace ringside::exporters {

// Where the parts of the flame graph stand, in pixels. The scripts repeat none of it: they
// read what they need from the picture's root, where data_attributes() writes it. Font sizes stand
// in flamegraph.css.
struct FlamegraphLayout {
  static constexpr unsigned kNarrowestPicture = 320;
  static constexpr unsigned kMargin = 16;
  static constexpr unsigned kGap = 16;  // at least that between two texts of one line

  // The head, from the top. Baselines, unless said otherwise.
  static constexpr unsigned kButtonTop = 16;
  static constexpr unsigned kTitle = 32;
  static constexpr unsigned kSearchTop = 48;
  static constexpr unsigned kSubtitle = 53;
  static constexpr unsigned kLegendTop = 66;
  static constexpr unsigned kLegend = 76;
  static constexpr unsigned kDetails = 102;
  static constexpr unsigned kHeadOverhang = 8;  // of the page under the head, at its left

  static constexpr unsigned kButtonHeight = 24;
  static constexpr unsigned kButtonRadius = 6;
  static constexpr unsigned kButtonText = 16;  // baseline in the button
  static constexpr unsigned kButtonGap = 8;
  static constexpr unsigned kFlipWidth = 64;
  static constexpr unsigned kResetWidth = 88;
  static constexpr unsigned kSearchWidth = 68;
  static constexpr unsigned kSearchBoxWidth = 232;
  static constexpr unsigned kSearchBoxHeight = 26;

  static constexpr unsigned kSwatch = 12;  // side of the legend's squares
  static constexpr unsigned kSwatchRadius = 3;
  static constexpr unsigned kSwatchToText = 17;    // from one's left edge to the other's
  static constexpr unsigned kLegendCharacter = 7;  // of a proportional font, on average
  static constexpr unsigned kLegendGap = 18;
  static constexpr std::size_t kLongestLegend = 16;  // cells of a text

  // The frames.
  static constexpr unsigned kFramesTop = 112;
  static constexpr unsigned kFrameHeight = 19;  // with the gap
  static constexpr unsigned kFrameGap = 1;
  static constexpr double kNarrowestFrame = 0.1;    // that a picture has, if not asked for others
  static constexpr double kNarrowestShown = 1;      // that is drawn
  static constexpr double kNarrowestElement = 13;   // that is an element: with room for a letter
  static constexpr double kThinGap = 0.4;           // at the right of one that is none
  static constexpr unsigned kInset = 3;             // of a frame's text, at both sides
  static constexpr unsigned kBaseline = 13;         // of a frame's text
  static constexpr double kCharacterWidth = 6.95;   // of the monospace fonts at 11.5 px
  static constexpr unsigned kNothingBaseline = 14;  // of what stands in place of frames

  // The foot, from the bottom.
  static constexpr unsigned kFootHeight = 34;
  static constexpr unsigned kFoot = 12;  // baseline
};

// `data-margin="16" …`: what the script needs of the layout.
// `depth`: that of the deepest frame, the root's is 0.
[[nodiscard]] std::string data_attributes(unsigned width, unsigned depth, bool roots_at_top);

}  // namespace ringside::exporters
