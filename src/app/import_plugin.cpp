#include "app/import_plugin.h"

#include <algorithm>
#include <map>
#include <optional>

#include "app/input_files.h"
#include "app/kernel_file.h"
#include "app/messages.h"
#include "app/outputs.h"
#include "app/settings/guest_system.h"
#include "app/settings/load_bias.h"
#include "engines/tcg/file_engine.h"
#include "kernel_image/slide.h"
#include "recording/writer.h"
#include "session/recorder.h"

namespace ringside::app {
namespace {

using engines::tcg::FileEngine;
using KernelFile = std::shared_ptr<const elf::ElfFile>;

constexpr std::size_t kPagesToProbe = 64;

class Unattended final : public session::Control {
 public:
  Wish poll() override { return Wish::kSample; }
};

Result<InputFile> input_of(const ImportRequest& request) {
  if (!request.files.empty()) return request.files.front();
  RINGSIDE_ASSIGN(const std::string path, path_of_input(request.inputs.front()));
  return InputFile{path, path};
}

Result<KernelFile> kernel_of(const ImportRequest& request) {
  if (request.kernel.empty()) {
    if (!request.symbols.empty())
      return fail(ErrorCode::kUsage, "--symbols needs the kernel's image as well: --kernel FILE");
    say("ringside: without --kernel FILE frames are addresses, and stacks are guesses");
    return KernelFile();
  }
  return open_kernel(request.kernel, request.symbols);
}

// Where most of the stored code is to be found in the kernel's file.
Result<std::optional<std::uint64_t>> find_load_bias(FileEngine& engine, const elf::ElfFile& file) {
  engines::VcpuMemory memory = engine.virtual_memory(VcpuId{0});
  std::map<std::uint64_t, unsigned> votes;
  const auto& pages = engine.code_pages();
  // The last ones first: a kernel runs longer than what came before it.
  for (std::size_t i = 0; i < std::min(pages.size(), kPagesToProbe); ++i) {
    RINGSIDE_ASSIGN(const auto slide,
                    kernel_image::find_slide(file, pages[pages.size() - 1 - i], memory));
    if (slide) ++votes[*slide];
  }
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? std::nullopt : std::optional(most->first);
}

Result<session::KernelRequest> find_kernel(FileEngine& engine, const ImportRequest& request) {
  session::KernelRequest kernel;
  RINGSIDE_ASSIGN(kernel.file, kernel_of(request));
  RINGSIDE_ASSIGN(kernel.load_bias, parse_load_bias(request.load_bias));
  kernel.system.os = parse_guest_os(request.os);
  if (!kernel.file) return kernel;
  RINGSIDE_TRY(check_kernel(*kernel.file, engine.arch()));
  RINGSIDE_ASSIGN(const auto found, find_load_bias(engine, *kernel.file));
  if (kernel.load_bias && found && *kernel.load_bias != *found)
    say(fmt::format("ringside: the guest's code says that the load bias is {:#x}, not {:#x}",
                    *found, *kernel.load_bias));
  if (!kernel.load_bias) kernel.load_bias = found;
  if (!kernel.load_bias)
    say(
        fmt::format("ringside: the code that {} holds of its guest's kernel is nowhere in {}: is "
                    "it another kernel? If it has moved, give --load-bias",
                    request.inputs.front(), kernel.file->name()));
  return kernel;
}

recording::Header header_of(const wire::SampleFileHeader& file,
                            const session::KernelRequest& kernel) {
  recording::Header header;
  header.ringside_version = RINGSIDE_VERSION;
  header.start_wall_ns = file.start_wall_ns;
  header.start_monotonic_ns = file.start_monotonic_ns;
  header.arch = static_cast<Arch>(file.arch);
  header.vcpu_count = file.vcpus;
  // By instructions there is no time between two ticks.
  header.interval_ns = file.clock == wire::RingClock::kHostTime ? file.interval : 0;
  header.engine = "tcg";
  if (kernel.file) {
    header.kernel = std::filesystem::path(kernel.file->name()).filename();
    if (const auto system = guestos::system_of(kernel.system, *kernel.file))
      header.guest_os = *system;
  }
  return header;
}

}  // namespace

Result<void> import_plugin_file(const ImportRequest& request) {
  if (request.settings.is_given())
    return fail(ErrorCode::kUsage,
                "--cpu-freq, --context-names and --maestro-cut do not go with the input format {}",
                kPluginFormat);
  RINGSIDE_ASSIGN(const InputFile input, input_of(request));
  RINGSIDE_ASSIGN(const auto engine, FileEngine::open(input.path, input.name));
  RINGSIDE_ASSIGN(const auto kernel, find_kernel(*engine, request));
  RINGSIDE_TRY(check_output(request.output));
  RINGSIDE_TRY(check_no_input(request.output, request.inputs));
  const wire::SampleFileHeader& file = engine->header();
  session::SamplingOptions options;
  options.interval_ns = file.interval;
  options.deterministic = true;
  options.replay_start_ns = file.start_monotonic_ns;
  options.keep_captures = request.keep_captures;
  RINGSIDE_ASSIGN(auto writer, recording::Writer::create(request.output, header_of(file, kernel)));
  if (request.is_temporary) writer.set_temporary();
  session::Recorder recorder(*engine, kernel, writer, file.start_monotonic_ns, options);
  Unattended control;
  const session::RecordResult result = recorder.run(control);
  for (const std::string& warning : result.warnings) say("ringside: " + warning);
  if (result.error) return tl::unexpected<Error>(*result.error);
  return {};
}

}  // namespace ringside::app
