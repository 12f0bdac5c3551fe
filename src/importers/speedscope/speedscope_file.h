#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pair_table.h"
#include "importers/parts/faults.h"
#include "importers/parts/json_columns.h"
#include "importers/parts/json_reader.h"

namespace ringside::importers::speedscope {

inline constexpr std::string_view kSchema = "https://www.speedscope.app/file-format-schema.json";

// A profile of either type, as samples.
struct Profile {
  std::size_t number = 0;  // in the file, from 1
  std::string name;
  std::string unit = "none";
  double start = 0;
  Column<std::uint32_t> stacks;  // in File::stacks; kNoIndex: a stack without frames
  Column<double> weights;
  Column<double> starts;  // of an evented one: from where on each weight counts

  [[nodiscard]] bool is_evented() const { return !starts.empty(); }
  [[nodiscard]] std::size_t size() const {
    const std::size_t pairs = std::min(stacks.size(), weights.size());
    return is_evented() ? std::min(pairs, starts.size()) : pairs;
  }
};

// A file's contents in columns.
struct File {
  std::string schema;
  std::string exporter;
  std::string name;
  std::uint32_t active = 0;  // the profile that is shown first
  bool has_profiles = false;
  std::deque<Profile> profiles;   // that have samples
  std::size_t profile_count = 0;  // with those that have none
  PairTable stacks;               // a node's parent + 1, and its frame
  TextColumn frame_names;
  TextColumn frame_files;             // empty where there is none
  Column<std::uint32_t> frame_lines;  // 0: unknown

  TableBudget budget;
  Faults faults;
  std::optional<JsonDamage> damage;
};

// Reads as much as there is. Errors: tables that take too much memory.
[[nodiscard]] Result<File> read_file(const Input& input);

}  // namespace ringside::importers::speedscope
