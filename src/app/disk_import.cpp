#include "app/disk_import.h"

#include <fmt/core.h>

#include <filesystem>

#include "app/input_files.h"
#include "app/messages.h"
#include "app/outputs.h"
#include "base/file.h"
#include "disk_image/disk.h"
#include "disk_image/tool.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace ringside::app {
namespace {

using disk_image::Disk;
using disk_image::DiskFile;

std::string path_of(const DiskFile& file) { return disk_image::name_of_descriptor(file.fd.get()); }

Result<std::vector<DiskFile>> take_files(const disk_image::ImageName& name,
                                         const std::vector<std::string>& paths) {
  ProgressLine line(true);
  RINGSIDE_ASSIGN(Disk disk,
                  Disk::open(name, {.progress =
                                        [&](double share) {
                                          line.show(fmt::format("ringside: copying {}: {:.0f} %",
                                                                name.image.string(), 100 * share));
                                        },
                                    .note =
                                        [&](const std::string& sentence) {
                                          line.clear();
                                          say("ringside: " + sentence);
                                        }}));
  std::vector<DiskFile> files;
  for (const std::string& path : paths) {
    RINGSIDE_ASSIGN(DiskFile file, disk.file(path));
    files.push_back(std::move(file));
  }
  if (paths.empty()) {
    RINGSIDE_ASSIGN(DiskFile file, disk.bytes());
    files.push_back(std::move(file));
  }
  return files;
}

Result<void> check_no_settings(const ImportRequest& request) {
  if (!request.settings.is_given() && request.kernel.empty() && request.symbols.empty() &&
      request.load_bias.empty() && request.os == ImportRequest().os && !request.keep_captures)
    return {};
  return fail(ErrorCode::kUsage,
              "{} is a recording, which is copied as it is: --kernel, --symbols and what else is "
              "for files of other profilers do not go with it",
              request.inputs.front());
}

// The file is what a ringside inside the guest has recorded. `is_padded`: a disk goes on behind it.
Result<void> copy_recording(const DiskFile& file, bool is_padded,
                            const std::filesystem::path& output) {
  RINGSIDE_ASSIGN(const auto mapped, MappedFile::open(path_of(file)));
  Bytes bytes = mapped->bytes();
  if (is_padded) {
    RINGSIDE_ASSIGN(const auto reader, recording::Reader::open(bytes, file.name));
    bytes = bytes.first(reader.end());
  }
  return recording::write_copy(output, bytes);
}

// The ring of an idle CPU is empty, but not all of them.
Result<void> check_contents(const ImportRequest& request) {
  RINGSIDE_ASSIGN(const auto inputs, open_inputs(request.files));
  for (const importers::Input& input : inputs)
    if (!input.bytes.empty()) return {};
  return fail(ErrorCode::kFormat, "{}: {}", request.inputs.front(),
              request.files.front().is_padded ? "there are zeros only: nothing was written to it"
                                              : "this file is empty");
}

}  // namespace

Result<void> import_from_disk(ImportRequest request, const DiskRequest& disk) {
  RINGSIDE_ASSIGN(const auto name,
                  disk_image::parse_image_name(disk.image, [](const std::string& path) {
                    std::error_code ignored;
                    return std::filesystem::exists(path, ignored);
                  }));
  RINGSIDE_TRY(check_output(request.output));  // before a long copy
  RINGSIDE_TRY(check_no_input(request.output, {name.image.string()}));
  RINGSIDE_ASSIGN(const auto files, take_files(name, disk.paths));
  for (const DiskFile& file : files) {
    request.inputs.push_back(file.name);
    request.files.push_back({file.name, path_of(file), disk.paths.empty()});
  }
  RINGSIDE_TRY(check_contents(request));
  RINGSIDE_ASSIGN(request.format, resolved_format(request));
  if (request.format == kRecordingFormat && files.size() == 1) {
    RINGSIDE_TRY(check_no_settings(request));
    return copy_recording(files.front(), request.files.front().is_padded, request.output);
  }
  return import_files(request);
}

}  // namespace ringside::app
