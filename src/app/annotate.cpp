#include "app/annotate.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "annotation/annotator.h"
#include "annotation/code_source.h"
#include "annotation/function_choice.h"
#include "annotation/leaf_sums.h"
#include "annotation/source_files.h"
#include "app/messages.h"

namespace ringside::app {
namespace {

// The files that name the frames of a recording.
class ImageCode final : public annotation::CodeSource {
 public:
  explicit ImageCode(naming::ImageSymbols& symbols) : symbols_(symbols) {}

  annotation::Code code_at(const profile::FrameToName& what, std::size_t size) override {
    const auto code = symbols_.code_file(what);
    if (!code) return {};
    const ImageAddr address{what.frame.address.value - code->load_bias};
    return {code->file->arch(), code->file->bytes_at(address, size)};
  }
  void name(const profile::FrameToName& what, profile::NamedFrame& out) override {
    symbols_.name(what, out);
  }

 private:
  naming::ImageSymbols& symbols_;
};

std::vector<std::string> library_names() {
  const char* const given = std::getenv("RINGSIDE_LIBLLVM");
  if (given != nullptr && *given != '\0') return {given};
  return annotation::LlvmLibrary::usual_names();
}

Result<void> check_addresses(const annotation::LeafSums& sums, const std::string& input) {
  if (sums.leaves.empty()) return fail(ErrorCode::kNotFound, "{}: there are no samples", input);
  const bool has_address =
      std::any_of(sums.leaves.begin(), sums.leaves.end(),
                  [](const annotation::Leaf& leaf) { return leaf.address.value != 0; });
  if (has_address) return {};
  return fail(ErrorCode::kUnsupported,
              "{}: its samples have names and no addresses, so nothing shows at which instructions "
              "they stand; annotate reads recordings, and files of the formats perf-data, "
              "perf-script, pprof, gdb, redox-a, redox-b, maestro and tcg",
              input);
}

}  // namespace

Result<annotation::Annotation> annotate(const AnnotateRequest& request) {
  ReaderSettings settings = request.settings;
  // Names are compared.
  settings.show_addresses = false;
  settings.show_lines = false;
  RINGSIDE_ASSIGN(const auto opened, open_details(settings, DetailSources::kFirst));
  RINGSIDE_ASSIGN(const auto sums, annotation::sum_leaves(*opened->profile));
  RINGSIDE_TRY(check_addresses(sums, settings.input()));
  const profile::Profile& profile = opened->profile->profile();
  RINGSIDE_ASSIGN(const auto functions,
                  annotation::choose_functions(sums, profile.strings, request.function));
  annotation::Annotation made;
  made.input = settings.input();
  made.unit = profile.unit;
  made.total = sums.total;
  made.extent = sums.extent;
  ImageCode code(opened->recording.symbols);
  annotation::SourceFiles sources({request.source_folders.begin(), request.source_folders.end()});
  annotation::Annotator annotator(code, sources, profile.strings, made.strings, library_names(),
                                  request.syntax);
  for (const annotation::SampledFunction& function : functions) {
    if (request.most_functions != 0 && made.functions.size() == request.most_functions) {
      ++made.left_out;
      made.left_out_sum.add(function.sum);
      continue;
    }
    made.functions.push_back(annotator.annotate(function));
  }
  for (const std::string& text : profile.left_out) say("ringside: " + text);
  for (const std::string& text : opened->recording.symbols.warnings()) say("ringside: " + text);
  return made;
}

}  // namespace ringside::app
