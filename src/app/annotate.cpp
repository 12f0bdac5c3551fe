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

// A user who stands in a folder or names the kernel in it means the sources there.
annotation::SourceFiles::Folders source_folders(const AnnotateRequest& request) {
  namespace fs = std::filesystem;
  annotation::SourceFiles::Folders folders;
  folders.given.assign(request.source_folders.begin(), request.source_folders.end());
  folders.own.emplace_back(".");
  const fs::path kernel = request.settings.kernel;
  if (request.kernel_has_sources && !kernel.empty())
    folders.own.push_back(kernel.has_parent_path() ? kernel.parent_path() : fs::path("."));
  return folders;
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
              "perf-script, pprof, json-lines, gdb, redox-a, redox-b, maestro and tcg",
              input);
}

// The error of choose_functions() where report lists the function: as one that calls others.
Error as_caller(Error error, profile::DetailedProfile& profile, const std::string& asked) {
  if (error.code != ErrorCode::kNotFound) return error;
  for (const profile::StringId name : annotation::caller_names(profile))
    if (annotation::is_called_for(profile.profile().strings[name], asked)) {
      error.message = fmt::format(
          "no sample is in {} itself, only in functions that it calls: annotate those", asked);
      break;
    }
  return error;
}

}  // namespace

struct AnnotatedRecording::Parts {
  Parts(std::unique_ptr<OpenDetails> details, annotation::LeafSums leaves,
        const AnnotateRequest& request)
      : opened(std::move(details)),
        sums(std::move(leaves)),
        code(opened->recording.symbols),
        sources(source_folders(request)),
        annotator(code, sources, opened->profile->profile().strings, made.strings, library_names(),
                  request.syntax) {}

  std::unique_ptr<OpenDetails> opened;
  annotation::LeafSums sums;
  std::vector<annotation::SampledFunction> functions;
  ImageCode code;
  annotation::SourceFiles sources;
  annotation::Annotation made;
  annotation::Annotator annotator;
};

AnnotatedRecording::AnnotatedRecording(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
AnnotatedRecording::~AnnotatedRecording() = default;

Result<std::unique_ptr<AnnotatedRecording>> AnnotatedRecording::open(
    const AnnotateRequest& request) {
  ReaderSettings settings = request.settings;
  // Names are compared.
  settings.show_addresses = false;
  settings.show_lines = false;
  RINGSIDE_ASSIGN(auto opened, open_details(settings, DetailSources::kFirst));
  RINGSIDE_ASSIGN(auto sums, annotation::sum_leaves(*opened->profile));
  RINGSIDE_TRY(check_addresses(sums, settings.input()));
  auto parts = std::make_unique<Parts>(std::move(opened), std::move(sums), request);
  const profile::Profile& profile = parts->opened->profile->profile();
  auto functions = annotation::choose_functions(parts->sums, profile.strings, request.function);
  if (!functions)
    return tl::unexpected<Error>(
        as_caller(std::move(functions.error()), *parts->opened->profile, request.function));
  parts->functions = std::move(*functions);
  annotation::Annotation& made = parts->made;
  made.input = settings.input();
  made.unit = profile.unit;
  made.total = parts->sums.total;
  made.extent = parts->sums.extent;
  made.functions = parts->functions.size();
  if (request.most_functions != 0)
    made.functions = std::min(made.functions, request.most_functions);
  made.left_out = parts->functions.size() - made.functions;
  for (std::size_t i = made.functions; i < parts->functions.size(); ++i)
    made.left_out_sum.add(parts->functions[i].sum);
  made.function = [parts = parts.get()](std::size_t i) {
    return parts->annotator.annotate(parts->functions[i]);
  };
  return std::unique_ptr<AnnotatedRecording>(new AnnotatedRecording(std::move(parts)));
}

const annotation::Annotation& AnnotatedRecording::annotation() const { return parts_->made; }

void AnnotatedRecording::say_missing() const {
  for (const std::string& text : parts_->opened->profile->profile().left_out)
    say("ringside: " + text);
  // Names of other functions were not asked for.
  for (const std::string& text : parts_->opened->recording.symbols.warnings(true))
    say("ringside: " + text);
}

}  // namespace ringside::app
