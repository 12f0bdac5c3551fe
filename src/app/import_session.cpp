#include "app/import_session.h"

#include <fmt/format.h>

#include <memory>
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
using KernelFile = std::shared_ptr<const elf::ElfFile>;

// The kernel that a request names, at the place where it ran; opened when it is asked for.
class GivenKernel {
 public:
  explicit GivenKernel(const ImportRequest& request) : request_(request) {}

  // Null where none is given.
  [[nodiscard]] Result<std::optional<elf::Image>> image() {
    if (image_ || (request_.kernel.empty() && request_.symbols.empty())) return image_;
    RINGSIDE_ASSIGN(const auto load_bias, parse_load_bias(request_.load_bias));
    RINGSIDE_ASSIGN(const KernelFile file, open());
    image_ = elf::Image{1, elf::kKernelImage, file, load_bias.value_or(0)};
    return image_;
  }

  [[nodiscard]] Result<std::vector<CodeRange>> code() {
    std::vector<CodeRange> ranges;
    RINGSIDE_ASSIGN(const auto image, this->image());
    if (!image) return ranges;
    for (const elf::Segment& segment : image->file->segments()) {
      if (!segment.executable) continue;
      const GuestVirt start = image->to_guest(segment.address);
      ranges.push_back({start, start + segment.memory_size});
    }
    return ranges;
  }

 private:
  [[nodiscard]] Result<KernelFile> open() const {
    return request_.kernel.empty() ? open_listed_kernel(request_.symbols)
                                   : open_kernel(request_.kernel, request_.symbols);
  }

  const ImportRequest& request_;
  std::optional<elf::Image> image_;
};

class RecordingTarget final : public importers::Target {
 public:
  // `kernel`: the image for addresses, where the format has any. `is_placed`: --load-bias says
  // where it ran.
  RecordingTarget(std::filesystem::path path, std::optional<elf::Image> kernel, bool is_placed)
      : path_(std::move(path)), kernel_(std::move(kernel)), is_placed_(is_placed) {}

  void place_kernel(std::uint64_t load_bias) override {
    if (kernel_ && !is_placed_) kernel_->load_bias = load_bias;
  }

  Result<recording::Writer*> create(recording::Header header,
                                    const std::vector<recording::Source>& sources) override {
    header.ringside_version = RINGSIDE_VERSION;
    if (kernel_) RINGSIDE_TRY(describe_kernel(header));
    RINGSIDE_ASSIGN(auto writer, recording::Writer::create(path_, header, sources));
    writer_.emplace(std::move(writer));
    if (kernel_)
      RINGSIDE_TRY(session::write_image(*kernel_, session::RecordedNames::kAll, *writer_));
    return &*writer_;
  }
  [[nodiscard]] Result<void> finish() { return writer_->finish(); }

 private:
  Result<void> describe_kernel(recording::Header& header) const {
    const elf::ElfFile& file = *kernel_->file;
    RINGSIDE_TRY(check_kernel(file, header.arch));
    if (header.arch == Arch::kUnknown) header.arch = file.arch();
    if (header.kernel.empty()) header.kernel = std::filesystem::path(file.name()).filename();
    return {};
  }

  std::filesystem::path path_;
  std::optional<elf::Image> kernel_;
  bool is_placed_;
  std::optional<recording::Writer> writer_;
};

bool takes_kernel(const Format& format) {
  for (const std::string_view option : format.takes)
    if (option == "--kernel") return true;
  return false;
}

Result<importers::ImportOptions> options_for(const ImportRequest& request, GivenKernel& kernel) {
  RINGSIDE_ASSIGN(auto options, import_options(request.settings));
  RINGSIDE_ASSIGN(options.kernel_load_bias, parse_load_bias(request.load_bias));
  RINGSIDE_ASSIGN(options.kernel_code, kernel.code());
  RINGSIDE_ASSIGN(const auto image, kernel.image());
  if (image) options.kernel = image->file;
  if (!request.settings.maestro_cut) return options;
  if (!image)
    return fail(ErrorCode::kUsage,
                "--maestro-cut needs --kernel FILE: it cuts where no function is known");
  options.maestro_name = importers::maestro_names(image->file, image->load_bias);
  return options;
}

Result<void> import(const ImportRequest& request, const Format& format,
                    std::span<const Input> inputs) {
  RINGSIDE_TRY(check_settings(request.settings, format));
  if (inputs.size() > 1 && !format.takes_several)
    return fail(ErrorCode::kUsage,
                "{} is one of several inputs: a recording is made of one {} file", inputs[1].name,
                format.name);
  RINGSIDE_TRY(check_output(request.output));
  RINGSIDE_TRY(check_no_input(request.output, request.inputs));
  GivenKernel kernel(request);
  RINGSIDE_ASSIGN(const auto options, options_for(request, kernel));
  std::optional<elf::Image> image;
  if (takes_kernel(format)) {
    RINGSIDE_ASSIGN(image, kernel.image());
  }
  if (!image && !format.has_mark)
    say("ringside: without --kernel FILE or --symbols FILE frames are addresses");
  RecordingTarget target(request.output, std::move(image), !request.load_bias.empty());
  RINGSIDE_ASSIGN(const auto imported, format.read(inputs, options, target));
  for (const std::string& warning : imported.warnings) say("ringside: " + warning);
  return target.finish();
}

Result<void> import_plugin(const ImportRequest& request) {
  if (request.settings.is_given())
    return fail(ErrorCode::kUsage,
                "--cpu-freq, --context-names and --maestro-cut do not go with the input format {}",
                kPluginFormat);
  if (request.inputs.size() > 1)
    return fail(ErrorCode::kUsage,
                "{} is one of several inputs: a recording is made of one {} file",
                request.inputs[1], kPluginFormat);
  PluginRequest plugin;
  RINGSIDE_ASSIGN(plugin.input, path_of_input(request.inputs.front()));
  plugin.output = request.output;
  plugin.kernel = request.kernel;
  plugin.symbols = request.symbols;
  plugin.load_bias = request.load_bias;
  plugin.os = request.os;
  plugin.keep_captures = request.keep_captures;
  return import_plugin_file(plugin);
}

}  // namespace

Result<std::string> resolved_format(const ImportRequest& request) {
  if (request.format != kAutoFormat) return request.format;
  RINGSIDE_ASSIGN(const auto inputs, open_inputs(request.inputs));
  GivenKernel kernel(request);
  return format_of_inputs(inputs, [&] { return kernel.code(); });
}

Result<void> import_files(const ImportRequest& request) {
  RINGSIDE_ASSIGN(const std::string format, resolved_format(request));
  if (format == kPluginFormat) return import_plugin(request);
  if (format == kRecordingFormat)
    return fail(ErrorCode::kUsage, "{} is a recording already: look at it with 'ringside report'",
                request.inputs.front());
  RINGSIDE_ASSIGN(const auto inputs, open_inputs(request.inputs));
  return import(request, *importers::format_named(format), inputs);
}

}  // namespace ringside::app
