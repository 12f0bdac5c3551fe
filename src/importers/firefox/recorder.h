#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "importers/firefox/profile.h"
#include "importers/firefox/table_stacks.h"
#include "importers/firefox/thread_plan.h"
#include "importers/format.h"

namespace ringside::importers::firefox {

// Puts a profile's samples into a recording, in order of time.
class Recorder {
 public:
  Recorder(std::string input, Profile& profile, Target& target);

  // Errors: there is not one sample; the writer's.
  [[nodiscard]] Result<Imported> run();

 private:
  // The stacks of some tables; those of a thread are made only once they are needed.
  struct Made {
    Made(Profile& profile, const Tables& tables, Images& images)
        : stacks(profile, tables, images), maker(stacks, profile.budget) {}
    TableStacks stacks;
    StackMaker maker;
  };
  struct Place {
    std::size_t series = 0;
    std::size_t index = 0;
  };

  [[nodiscard]] Result<void> take(Place place);
  [[nodiscard]] Result<void> flush();
  [[nodiscard]] Result<void> add(Place place, const Series& owner);
  void leave_out(Place place, const char* reason);
  [[nodiscard]] Result<void> create();
  [[nodiscard]] Result<Imported> finish();
  [[nodiscard]] std::vector<std::string> warnings() const;
  [[nodiscard]] tl::unexpected<Error> nothing() const;

  [[nodiscard]] std::uint64_t time_of(Place place) const;
  [[nodiscard]] std::uint32_t stack_of(Place place) const {
    return plan_.series[place.series].samples->stacks[place.index];
  }
  [[nodiscard]] std::int64_t weight_of(Place place);

  std::string input_;
  Profile& profile_;
  Target& target_;
  Plan plan_;
  Images images_;
  std::map<const Tables*, std::unique_ptr<Made>> made_;
  std::vector<std::uint64_t> counts_;  // of samples, by source
  std::vector<double> carries_;        // what was rounded off the weights so far, by series
  std::int64_t base_ns_ = 0;           // where the recording's times count from; 0 or less
  std::vector<Place> pending_;         // samples of one time
  recording::Writer* writer_ = nullptr;
  std::vector<recording::Statistics> statistics_;  // by source
  std::uint64_t samples_ = 0;
};

}  // namespace ringside::importers::firefox
