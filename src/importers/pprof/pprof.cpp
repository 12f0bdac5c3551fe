#include "importers/pprof/pprof.h"

#include <fmt/format.h>

#include "importers/parts/event_numbers.h"
#include "importers/parts/faults.h"
#include "importers/parts/gzip_reader.h"
#include "importers/pprof/comments.h"
#include "importers/pprof/profile_source.h"
#include "importers/pprof/samples.h"
#include "importers/pprof/unzipped.h"

namespace ringside::importers {
namespace {

using namespace pprof;

constexpr std::size_t kMostUnzipped = 192 << 20;

class Import {
 public:
  Import(const Input& input, const ImportOptions& options, Target& target)
      : input_(input), options_(options), target_(target) {}

  Result<Imported> run() {
    RINGSIDE_TRY(read_messages());
    SampleReader sample(messages_);
    Result<void> result;
    messages_.for_each_sample([&](std::size_t offset, std::string_view message) {
      const std::string_view fault = sample.read(message);
      if (fault.empty())
        result = add(sample);
      else
        faults_.add(offset, std::string(fault));
      if (!samples_ || samples_->has_room()) return result.has_value();
      faults_.add(offset, "it has too many different stacks for those behind this sample");
      return false;
    });
    RINGSIDE_TRY(std::move(result));
    if (writer_ == nullptr) return nothing();
    RINGSIDE_TRY(finish(sample.labels()));
    return std::move(imported_);
  }

 private:
  Result<void> read_messages() {
    std::string_view bytes = as_text(input_.bytes);
    if (is_gzip(input_.bytes)) {
      unzipped_ = unzipped(input_.bytes, kMostUnzipped);
      bytes = as_text(unzipped_.bytes);
      if (input_.release) input_.release();
    }
    messages_.read(bytes, faults_);
    columns_ = columns_of(messages_);
    return {};
  }

  Result<void> add(SampleReader& sample) {
    if (columns_.empty()) return {};
    if (writer_ == nullptr) {
      RINGSIDE_ASSIGN(writer_,
                      target_.create(header_of(messages_), {source_of(messages_, columns_)}));
      RINGSIDE_TRY(add_event_numbers(*writer_));
      samples_.emplace(messages_, options_, columns_, *writer_);
      RINGSIDE_TRY(samples_->start());
    }
    return samples_->add(sample);
  }

  [[nodiscard]] tl::unexpected<Error> nothing() const {
    const bool is_cut = !unzipped_.fault.empty();
    std::string why = "it has none";
    if (faults_.count() != 0) why = faults_.first();
    if (columns_.empty()) why = "the types of its values are not there";
    if (is_cut) why = unzipped_.fault;
    return fail(is_cut ? ErrorCode::kTruncated : ErrorCode::kFormat,
                "{}: no sample of a pprof profile can be read: {}", input_.name, why);
  }

  Result<void> finish(const LabelReader& labels) {
    imported_.records = samples_->count();
    recording::Statistics statistics;
    const bool is_of_ticks = recording::is_of_ticks(source_of(messages_, columns_));
    statistics.due = is_of_ticks ? samples_->weight() : samples_->count();
    statistics.duration_ns = messages_.duration_ns;
    for (const std::string& comment : take_comments(messages_, statistics))
      RINGSIDE_TRY(warn(fmt::format("{}: its comment: {}", input_.name, comment)));
    RINGSIDE_TRY(writer_->add_statistics(statistics));
    if (!unzipped_.fault.empty())
      RINGSIDE_TRY(warn(fmt::format("{}: {}", input_.name, unzipped_.fault)));
    if (faults_.count() != 0) RINGSIDE_TRY(warn(faults_.sentence(input_.name, "parts")));
    if (samples_->cut() != 0)
      RINGSIDE_TRY(
          warn(fmt::format("{}: {} stacks are longer than those of recordings: their "
                           "outer frames are left out",
                           input_.name, samples_->cut())));
    if (labels.others().empty()) return {};
    return warn(fmt::format("{}: labels that have no place in a recording are left out: {}",
                            input_.name, fmt::join(labels.others(), ", ")));
  }

  Result<void> warn(std::string sentence) {
    RINGSIDE_TRY(writer_->add_warning(sentence));
    imported_.warnings.push_back(std::move(sentence));
    return {};
  }

  const Input& input_;
  const ImportOptions& options_;
  Target& target_;
  Unzipped unzipped_;
  Messages messages_;
  Faults faults_;
  std::vector<std::size_t> columns_;  // in Messages::types
  recording::Writer* writer_ = nullptr;
  std::optional<SampleWriter> samples_;
  Imported imported_;
};

}  // namespace

Result<Imported> import_pprof(std::span<const Input> inputs, const ImportOptions& options,
                              Target& target) {
  return Import(inputs.front(), options, target).run();
}

}  // namespace ringside::importers
