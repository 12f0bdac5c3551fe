#include "app/import_session.h"

#include <fmt/core.h>

#include <optional>

#include "app/import_plugin.h"
#include "app/input_files.h"
#include "app/kernel_file.h"
#include "app/messages.h"
#include "app/outputs.h"
#include "app/settings/load_bias.h"
#include "importers/maestro_symbols.h"
#include "recording/writer.h"
#include "session/recorded_image.h"

namespace ringside::app {
namespace {

using importers::CodeRange;
using importers::Format;
using importers::Input;

// The kernel that a request names, at the place where it ran; nothing where none is given.
Result<std::optional<elf::Image>> kernel_of(const ImportRequest& request) {
  if (request.kernel.empty() && request.symbols.empty()) return std::nullopt;
  RINGSIDE_ASSIGN(const auto load_bias, parse_load_bias(request.load_bias));
  RINGSIDE_ASSIGN(const auto file, request.kernel.empty()
                                       ? open_listed_kernel(request.symbols)
                                       : open_kernel(request.kernel, request.symbols));
  return elf::Image{1, elf::kKernelImage, file, load_bias.value_or(0)};
}

std::vector<CodeRange> code_of(const elf::Image& image) {
  std::vector<CodeRange> ranges;
  for (const elf::Segment& segment : image.file->segments()) {
    if (!segment.executable) continue;
    const GuestVirt start = image.to_guest(segment.address);
    ranges.push_back({start, start + segment.memory_size});
  }
  return ranges;
}

class RecordingTarget final : public importers::Target {
 public:
  // `kernel`: the image for addresses, where the format has any. `is_placed`: --load-bias says
  // where it ran.
  RecordingTarget(const ImportRequest& request, std::optional<elf::Image> kernel)
      : path_(request.output),
        kernel_(std::move(kernel)),
        is_placed_(!request.load_bias.empty()),
        is_temporary_(request.is_temporary) {}

  void place_kernel(std::uint64_t load_bias) override {
    if (kernel_ && !is_placed_) kernel_->load_bias = load_bias;
  }

  Result<recording::Writer*> create(recording::Header header,
                                    const std::vector<recording::Source>& sources) override {
    header.ringside_version = RINGSIDE_VERSION;
    if (kernel_) RINGSIDE_TRY(describe_kernel(header));
    RINGSIDE_ASSIGN(auto writer, recording::Writer::create(path_, header, sources));
    writer_.emplace(std::move(writer));
    if (is_temporary_) writer_->set_temporary();
    if (kernel_)
      RINGSIDE_TRY(session::write_image(*kernel_, session::RecordedNames::kAll, *writer_));
    return &*writer_;
  }
  [[nodiscard]] Result<void> finish() { return writer_->finish(); }

 private:
  Result<void> describe_kernel(recording::Header& header) const {
    const elf::ElfFile& file = *kernel_->file;
    // A list of symbols alone is of no architecture.
    if (file.arch() != Arch::kUnknown) RINGSIDE_TRY(check_kernel(file, header.arch));
    if (header.arch == Arch::kUnknown) header.arch = file.arch();
    if (header.kernel.empty()) header.kernel = std::filesystem::path(file.name()).filename();
    return {};
  }

  std::filesystem::path path_;
  std::optional<elf::Image> kernel_;
  bool is_placed_;
  bool is_temporary_;
  std::optional<recording::Writer> writer_;
};

Result<importers::ImportOptions> options_for(const ImportRequest& request,
                                             const std::optional<elf::Image>& kernel) {
  RINGSIDE_ASSIGN(auto options, import_options(request.settings));
  RINGSIDE_ASSIGN(options.kernel_load_bias, parse_load_bias(request.load_bias));
  if (kernel) {
    options.kernel = kernel->file;
    options.kernel_code = code_of(*kernel);
  }
  if (!request.settings.maestro_cut) return options;
  if (!kernel)
    return fail(ErrorCode::kUsage,
                "--maestro-cut needs --kernel FILE: it cuts where no function is known");
  options.maestro_name = importers::maestro_names(kernel->file, kernel->load_bias);
  return options;
}

Result<void> import(const ImportRequest& request, const Format& format,
                    std::span<const Input> inputs) {
  RINGSIDE_TRY(check_settings(request.settings, format));
  RINGSIDE_TRY(check_output(request.output));
  RINGSIDE_TRY(check_no_input(request.output, request.inputs));
  RINGSIDE_ASSIGN(auto kernel, kernel_of(request));
  RINGSIDE_ASSIGN(const auto options, options_for(request, kernel));
  if (!format.takes_option("--kernel")) kernel.reset();  // there are no addresses of it
  if (!kernel && !format.has_mark)
    say("ringside: without --kernel FILE or --symbols FILE frames are addresses");
  RecordingTarget target(request, std::move(kernel));
  RINGSIDE_ASSIGN(const auto imported, format.read(inputs, options, target));
  for (const std::string& warning : imported.warnings) say("ringside: " + warning);
  return target.finish();
}

Result<std::vector<Input>> inputs_of(const ImportRequest& request) {
  return request.files.empty() ? open_inputs(request.inputs) : open_inputs(request.files);
}

Result<void> check_count(const ImportRequest& request, const std::string& format) {
  const Format* const known = importers::format_named(format);
  if (request.inputs.size() == 1 || (known != nullptr && known->takes_several)) return {};
  return fail(ErrorCode::kUsage, "{} is one of several inputs: a recording is made of one {} file",
              request.inputs[1], format);
}

}  // namespace

Result<std::string> resolved_format(const ImportRequest& request) {
  if (request.format != kAutoFormat) return request.format;
  RINGSIDE_ASSIGN(const auto inputs, inputs_of(request));
  return format_of_inputs(inputs, [&]() -> Result<std::vector<CodeRange>> {
    RINGSIDE_ASSIGN(const auto kernel, kernel_of(request));
    return kernel ? code_of(*kernel) : std::vector<CodeRange>();
  });
}

Result<void> import_files(const ImportRequest& request) {
  RINGSIDE_ASSIGN(const std::string format, resolved_format(request));
  if (format == kRecordingFormat)
    return fail(ErrorCode::kUsage, "{} is a recording already: look at it with 'ringside report'",
                request.inputs.front());
  RINGSIDE_TRY(check_count(request, format));
  if (format == kPluginFormat) return import_plugin_file(request);
  RINGSIDE_ASSIGN(const auto inputs, inputs_of(request));
  return import(request, *importers::format_named(format), inputs);
}

}  // namespace ringside::app
