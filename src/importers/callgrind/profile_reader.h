#pragma once

#include <array>
#include <optional>
#include <vector>

#include "importers/callgrind/call_graph.h"
#include "importers/callgrind/events.h"
#include "importers/callgrind/line_scan.h"
#include "importers/callgrind/texts.h"
#include "importers/format.h"
#include "importers/parts/faults.h"

namespace ringside::importers::callgrind {

// The contents of files besides costs: those of the first file that has them.
struct Description {
  std::string_view command;
  std::string_view creator;
  std::vector<std::int64_t> totals;  // by event; empty where a part does not give them
};

// Reads the body of files: costs by line, the names they belong to, and calls.
class ProfileReader {
 public:
  ProfileReader(const Events& events, Texts& texts, CallGraph& graph);

  void read(const Input& input, Faults& faults);
  // To be called once, behind the last file.
  [[nodiscard]] Description finish();

 private:
  static constexpr std::size_t kPositions = 2;  // address and line, at most
  struct Names {
    explicit Names(Texts& texts) : objects(texts), files(texts), functions(texts) {}
    NumberedNames objects;
    NumberedNames files;
    NumberedNames functions;
  };

  // False where a line is none of the format.
  [[nodiscard]] bool take(std::string_view line);
  [[nodiscard]] bool take_head(const Setting& setting);
  [[nodiscard]] bool take_place(const Setting& setting);
  [[nodiscard]] bool take_costs(std::string_view line);
  [[nodiscard]] bool take_positions(std::string_view& rest);
  [[nodiscard]] bool parse_costs(std::string_view rest);
  void set_events(std::string_view names);
  void start_function(std::string_view name);
  void start_callee(std::string_view name);

  const Events& events_;
  Texts& texts_;
  CallGraph& graph_;
  Description description_;
  std::size_t parts_ = 0;
  std::size_t parts_with_totals_ = 0;

  std::optional<Names> names_;        // of the file
  std::vector<std::size_t> columns_;  // of the part's events
  std::array<std::uint64_t, kPositions> positions_ = {};
  std::size_t position_count_ = 1;
  bool has_line_ = true;  // the last position is one
  CallGraph::Thread thread_;
  std::uint32_t object_ = 0;
  std::uint32_t file_ = 0;
  std::optional<Function> function_;
  std::optional<std::uint32_t> called_object_;
  std::optional<std::uint32_t> called_file_;
  std::optional<Function> callee_;
  bool is_call_ = false;             // the next costs are of calls of the callee
  std::vector<std::int64_t> costs_;  // reused
};

}  // namespace ringside::importers::callgrind
