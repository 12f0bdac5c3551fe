#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/builder.h"
#include "profile/collector.h"
#include "profile/frame_interner.h"

namespace ringside::profile {

// Where one of a frame's functions stands in the source.
struct Place {
  StringId file = 0;
  std::uint32_t line = 0;  // 0: unknown
};

// The symbol that gave a frame its name.
struct SymbolRange {
  GuestVirt start;
  std::uint64_t size = 0;  // 0: not known
};

// The profile's frames of each recorded frame, with their names. Each is named when it is first
// asked for.
class FrameTable {
 public:
  FrameTable(const Collector& collected, FrameNamer& namer, const BuildOptions& options,
             Profile& profile);
  // To be called first: places_of() and symbol_of() are empty without it.
  void keep_places() { keeps_places_ = true; }

  // A recorded frame's function, then those inlined into it, outermost first; never empty. User
  // code that is in no image has an address where it is known what its address space maps; else it
  // is "[user]". Valid until the next call.
  std::span<const FrameId> frames_of(std::uint32_t recorded, bool knows_mappings) {
    const Names names = names_[recorded];
    if (names.count == 0 || (knows_mappings && names.is_anonymous))
      return find(recorded, knows_mappings);
    return {&frames_[names.first], names.count};
  }
  // Those of frames_of() where they are known, else none.
  std::span<const Place> places_of(std::uint32_t recorded);
  SymbolRange symbol_of(std::uint32_t recorded);
  // The path of the file that has named a frame; empty where the recording has the name, nothing
  // where there is none.
  std::optional<std::string_view> file_of(std::uint32_t recorded);
  // The function that was compiled at a recorded frame, not one inlined into it.
  FunctionId function_of(std::uint32_t recorded);
  // A frame that stands for what has none.
  FrameId placeholder(std::string_view name) {
    return interner_.intern(name, 0, Kind::kUnknown, false);
  }

 private:
  // The frames of a recorded frame, in frames_. 0 of them: it is not named yet.
  struct Names {
    std::uint32_t first = 0;
    std::uint32_t count : 31 = 0;
    // User code in no image: its name depends on what is known of the address space.
    std::uint32_t is_anonymous : 1 = 0;
  };

  std::span<const FrameId> find(std::uint32_t recorded, bool knows_mappings);
  // Leaves what was found in named_.
  void name(const recording::RecordedFrame& frame, std::vector<FrameId>& out);
  [[nodiscard]] std::string decorate(std::string name, const recording::RecordedFrame& frame) const;
  [[nodiscard]] std::string with_place(const NamedFrame& named, std::size_t index) const;
  void add_lines(const recording::RecordedFrame& frame, std::vector<FrameId>& out);
  [[nodiscard]] std::string source_line(const recording::RecordedFrame& frame,
                                        std::size_t index) const;
  void add_place(Function& function, const SourceLine& place);
  void keep(std::uint32_t recorded, const NamedFrame& named);

  const Collector& collected_;
  FrameNamer& namer_;
  const BuildOptions& options_;
  Profile& profile_;
  FrameInterner interner_;
  std::vector<Names> names_;  // by recorded frame
  std::vector<FrameId> frames_;
  // Anonymous code of a known address space, by recorded frame.
  std::unordered_map<std::uint32_t, FrameId> addresses_;
  bool keeps_places_ = false;
  NamedFrame named_;                                             // reused
  std::set<std::string> files_;                                  // that have named frames
  std::unordered_map<std::uint32_t, std::string_view> file_of_;  // by recorded frame: in files_
  std::vector<Place> places_;                                    // as frames_
  std::unordered_map<std::uint32_t, SymbolRange> symbols_;       // by recorded frame
};

}  // namespace ringside::profile
