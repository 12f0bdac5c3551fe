#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exporters/parts/symbol_ranges.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::perf {

// An image as perf has it, which calls it a DSO.
struct PerfImage {
  bool is_kernel = false;           // kernel code, or a module's
  std::string path;                 // perf shows what stands behind the last slash
  std::vector<std::byte> build_id;  // one is made where the image has none; at most 20 bytes
  std::uint64_t start = 0;          // where it is mapped, the same in all processes
  std::uint64_t end = 0;
  std::uint64_t file_start = 0;      // where the file's first byte would be
  std::uint64_t bias = 0;            // places minus addresses in the file, modulo 2^64
  std::vector<FrameSymbol> symbols;  // by address; they do not overlap

  // No frame is there, and nothing is to be written of it.
  [[nodiscard]] bool is_empty() const { return start == end; }
};

// A frame's place in perf.data.
struct PerfPlace {
  std::uint64_t address = 0;
  std::uint32_t image = 0;  // in PerfImages::images()
  bool is_kernel = false;
};

// Decides where the frames of a profile stand in perf.data, so that perf finds their names.
//
// perf looks names up by address, in the symbols of the image that is mapped there. Frames of the
// kernel and its modules keep their addresses. Those of programs are linked ones, the same for all
// processes, and two libraries may both be linked to 0: each image gets 4 GiB of its own. A frame
// without an image, such as one of an imported profile, gets a place in an image "[unknown]", where
// each name has an address. So every frame has a symbol, even where its function is not known: it
// is called "<unknown:0x…>" then, as in all outputs.
class PerfImages {
 public:
  // Takes the groups that are sampled, and those of idle vCPUs if they are shown.
  PerfImages(profile::DetailedProfile& profile, bool shows_idle);

  [[nodiscard]] std::string_view name(const FrameSymbol& symbol) const {
    return strings_[symbol.name];
  }
  [[nodiscard]] const std::vector<PerfImage>& images() const { return images_; }
  [[nodiscard]] const PerfPlace& place_of(const profile::StackEntry& entry) const {
    return places_[entry.knows_mappings ? 1 : 0][entry.frame];
  }
  // The place of vCPUs that are idle. Only where there are such samples.
  [[nodiscard]] const PerfPlace& idle_place() const { return *idle_; }
  // Whether the group's samples are written.
  [[nodiscard]] bool shows(std::uint32_t group) const;

 private:
  // A frame in an image.
  struct Seen {
    std::uint64_t address = 0;
    std::uint64_t start = 0;     // of its function
    std::uint64_t size = 0;      // of its function; 0: not known
    profile::StringId name = 0;  // in strings_
    std::uint32_t frame = 0;     // whose place it is …
    bool knows_mappings = false;
  };
  static bool lower(const Seen& a, const Seen& b) { return a.address < b.address; }
  struct Draft {
    const recording::ImageInfo* info = nullptr;  // null: of names without an image
    bool is_kernel = false;
    std::vector<Seen> frames;
    std::map<profile::StringId, std::uint64_t> names;  // without an image: their addresses
  };

  PerfPlace& slot(std::uint32_t frame, bool knows_mappings);
  void add(const profile::StackEntry& entry);
  // A place for a name that has no image.
  PerfPlace place_of_name(std::string_view name, bool is_kernel);
  std::uint32_t draft_of(const recording::ImageInfo* info, bool is_kernel);
  // Those do not fit into what their image gets: their names go without it.
  void move_far_frames(std::uint32_t index);
  // Those of a kernel that lies where another one has lain: their names go without it, too.
  void move_hidden_kernels();
  void finish(std::uint32_t index);
  void finish_names(std::uint32_t index);
  void set_range(const Draft& draft, PerfImage& image) const;
  void name_image(std::uint32_t index);
  void identify(std::uint32_t index);

  profile::DetailedProfile& profile_;
  bool shows_idle_;
  std::array<std::vector<PerfPlace>, 2> places_;  // by knows_mappings; by recorded frame
  std::array<std::vector<bool>, 2> is_placed_;
  std::optional<PerfPlace> idle_;
  std::vector<Draft> drafts_;
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> draft_ids_;  // by image and is_kernel
  std::vector<PerfImage> images_;
  profile::StringTable strings_;
  std::map<std::string, int> paths_;  // of images_, with the last number that was given
  // By image: from where to where its mappings go.
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> ranges_;
  std::set<std::vector<std::byte>> build_ids_;  // of images_
};

}  // namespace ringside::exporters::perf
