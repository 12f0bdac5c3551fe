#include "cli/outputs.h"

#include <filesystem>

#include "exporters/folded.h"
#include "exporters/svg_flamegraph.h"

namespace ringside::cli {

Result<void> write_to(const std::string& path,
                      const std::function<Result<void>(exporters::Sink&)>& write) {
  RINGSIDE_ASSIGN(auto sink, exporters::FileSink::create(path));
  RINGSIDE_TRY(write(sink));
  return sink.commit();
}

Result<void> check_extension(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension();
  if (extension == ".svg" || extension == ".folded") return {};
  return fail(ErrorCode::kUsage, "-o {}: no format has this extension; give .svg or .folded", path);
}

Result<void> write_by_extension(const profile::Profile& profile, const std::string& path) {
  RINGSIDE_TRY(check_extension(path));
  return write_to(path, [&](exporters::Sink& sink) {
    return std::filesystem::path(path).extension() == ".svg"
               ? exporters::write_flamegraph(profile, {}, sink)
               : exporters::write_folded(profile, {}, sink);
  });
}

}  // namespace ringside::cli
