#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/detailed_profile.h"
#include "profile/profile.h"
#include "views/summary.h"

namespace ringside::views {

// A function as several builds have it, and what it weighs in one profile.
struct FunctionSum {
  std::string name;   // as name_across_builds() has it
  std::string image;  // as image_across_builds() has it; empty: not known
  profile::Kind kind = profile::Kind::kUnknown;
  profile::Weight self = 0;   // of samples it was the leaf of
  profile::Weight total = 0;  // of samples it stood in, each counted once
  std::uint64_t self_samples = 0;
  std::uint64_t total_samples = 0;
  std::vector<float> self_blocks;   // `self` by block; empty where none were asked for
  std::vector<float> total_blocks;  // the same of `total`
};

// The number of samples is that of the recording's rows. Without times, the weights are numbers of
// samples where their unit counts and they may be counts; else it is not known.
struct FunctionSums {
  std::vector<FunctionSum> functions;  // by name and image
  profile::Weight weight = 0;          // of all samples with a stack
  std::uint64_t samples = 0;           // 0: the input does not have their number
  std::vector<double> block_weights;   // `weight` by block
};

// The samples with a stack of a recording, in the order of their times, by function.
class SampledFunctions {
 public:
  // Reads the chosen sources and the first of their values. `inlined_rows`: functions that are
  // inlined into others have their own sums. `details` is not needed afterwards.
  [[nodiscard]] static Result<SampledFunctions> read(profile::DetailedProfile& details,
                                                     bool inlined_rows);

  [[nodiscard]] const recording::Header& header() const { return header_; }
  // How the sampling went: of the whole recording, filters apart.
  [[nodiscard]] const Summary& summary() const { return summary_; }
  [[nodiscard]] const std::string& unit() const { return unit_; }  // of weights: "ticks"
  // Blocks are only as good as the times: those of data without times are none.
  [[nodiscard]] bool has_times() const { return has_times_; }
  [[nodiscard]] std::size_t rows() const { return samples_.size(); }  // of samples, in time
  [[nodiscard]] profile::Weight weight() const;                       // of all
  // Sums; those of the functions of these names also in so many blocks of equal weight, 0: none.
  using NameSet = std::unordered_set<std::string>;
  [[nodiscard]] FunctionSums sum(std::size_t blocks = 0, const NameSet& names = {}) const;

 private:
  class Receiver;
  using Row = std::uint32_t;  // in rows_
  struct Sample {
    std::uint64_t time;
    std::uint32_t group;
    float weight;
  };
  // Samples of one stack.
  struct Group {
    profile::Weight weight = 0;
    std::uint64_t samples = 0;
    std::uint64_t rows = 0;   // of the recording
    std::uint32_t first = 0;  // of its rows in group_rows_: the leaf's, then all others, each once
    std::uint32_t count = 0;
  };
  void check_counts();
  void find_rows(profile::DetailedProfile& details, bool inlined_rows);
  [[nodiscard]] Row row_of(const profile::Profile& profile, profile::FrameId frame);
  void add_blocks(std::size_t blocks, const NameSet& names, FunctionSums& sums) const;

  recording::Header header_;
  Summary summary_;
  std::string unit_;
  bool has_times_ = true;
  bool weights_are_counts_ = false;  // without times, each stands for so many samples
  std::vector<Sample> samples_;
  std::vector<Group> groups_;  // by group of the DetailedProfile
  std::vector<Row> group_rows_;
  std::vector<FunctionSum> rows_;  // without sums
  std::map<std::pair<std::string, std::string>, Row> row_numbers_;
  std::vector<Row> rows_of_functions_;  // by FunctionId
};

}  // namespace ringside::views
