#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/large_vector.h"
#include "base/pair_table.h"
#include "exporters/firefox/categories.h"
#include "exporters/firefox/libraries.h"
#include "exporters/parts/json_text.h"
#include "profile/detailed_profile.h"
#include "profile/string_table.h"

namespace ringside::exporters::firefox {

// The tables that all threads of a profile share: strings, functions, frames and stacks. They grow
// with the distinct stacks that are asked for.
class StackTables {
 public:
  explicit StackTables(profile::DetailedProfile& profile);

  // The index of a group's stack.
  [[nodiscard]] std::uint32_t stack_of(std::uint32_t group) {
    if (stacks_[group] == kNotYet) stacks_[group] = make_stack(group);
    return stacks_[group];
  }
  [[nodiscard]] profile::StringId string(std::string_view text) { return strings_.intern(text); }

  // The members "libs" and "shared", with a comma between. To be called when nothing more is asked
  // for.
  void write(JsonText& json);

 private:
  static constexpr std::uint32_t kNotYet = 0xffffffff;
  // The frames of a recorded frame: its function and those inlined into it.
  struct Location {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  struct FrameRow {
    std::uint32_t function = 0;
    std::int64_t address = -1;  // in its library; -1: unknown
    std::int32_t symbol = -1;
    std::uint32_t line = 0;
    std::uint32_t depth = 0;
    Category category = Category::kOther;
  };
  struct FunctionRow {
    profile::StringId name = 0;
    std::int32_t library = -1;
    std::int32_t file = -1;
  };
  struct SymbolRow {
    std::int32_t library = -1;
    std::uint64_t address = 0;
    profile::StringId name = 0;
    std::uint64_t size = 0;
  };

  std::uint32_t make_stack(std::uint32_t group);
  Location location_of(const profile::StackEntry& entry);
  Location make_location(const profile::DetailedFrame& frame);
  std::uint32_t idle_frame();
  std::uint32_t function_of(const FunctionRow& row);
  std::int32_t file_of(profile::StringId file);
  std::int32_t symbol_of(const profile::DetailedFrame& frame, std::int32_t library,
                         profile::StringId name);

  void write_stacks(JsonText& json) const;
  void write_frames(JsonText& json) const;
  void write_functions(JsonText& json) const;
  void write_resources(JsonText& json);
  void write_symbols(JsonText& json) const;
  void write_files(JsonText& json) const;

  profile::DetailedProfile& profile_;
  profile::StringTable strings_;
  Libraries libraries_;
  LargeVector<std::uint32_t> stacks_;  // by group
  PairTable nodes_;                    // of the stack table: the parent's index + 1, and the frame
  PairTable location_ids_;             // of recorded frames
  std::vector<Location> locations_;
  std::vector<FrameRow> frames_;
  PairTable places_;        // of a library + 1 and a file + 1
  PairTable function_ids_;  // of a name and a place
  std::vector<FunctionRow> functions_;
  std::map<std::pair<std::int32_t, std::uint64_t>, std::int32_t> symbol_ids_;
  std::vector<SymbolRow> symbols_;
  std::unordered_map<profile::StringId, std::int32_t> file_ids_;  // by the profile's string
  std::vector<profile::StringId> files_;
  std::uint32_t idle_frame_ = kNotYet;
};

}  // namespace ringside::exporters::firefox
