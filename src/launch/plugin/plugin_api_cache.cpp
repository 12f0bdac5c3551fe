#include "launch/plugin/plugin_api_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>

#include "base/user_cache.h"
#include "launch/json_file.h"

namespace ringside::launch {
namespace {

constexpr std::size_t kMostAnswers = 64;
constexpr std::uintmax_t kLargestFile = 1u << 20;

struct Answer {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  unsigned oldest = 0;
  unsigned newest = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Answer, size, modified_ns, oldest, newest)

using Answers = std::map<std::string, Answer>;

struct Kept {
  Answers answers;
  std::string checksum;  // of the answers, in hexadecimal digits
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Kept, answers, checksum)

std::string checksum_of(const Answers& answers) {
  const auto text =
      nlohmann::json(answers).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fmt::format("{:016x}", cache_checksum({as_bytes(text)}));
}

// A damaged file is removed.
Answers read(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};
  if (std::filesystem::file_size(file, error) <= kLargestFile) {
    auto kept = read_json<Kept>(file);
    if (kept && *kept && (*kept)->checksum == checksum_of((*kept)->answers))
      return std::move((*kept)->answers);
  }
  std::filesystem::remove(file, error);
  return {};
}

// Path, size and time of modification of the file that the links lead to.
std::optional<std::pair<std::string, Answer>> identity_of(const std::filesystem::path& qemu) {
  std::error_code error;
  const auto path = std::filesystem::canonical(qemu, error);
  struct stat info {};
  if (error || ::stat(path.c_str(), &info) != 0) return std::nullopt;
  Answer answer;
  answer.size = static_cast<std::uint64_t>(info.st_size);
  answer.modified_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  return std::pair{path.string(), answer};
}

}  // namespace

PluginApiCache::PluginApiCache() {
  if (const auto folder = user_cache_folder(); !folder.empty()) file_ = folder / "plugin-api.json";
}

std::optional<PluginApi> PluginApiCache::find(const std::filesystem::path& qemu) const {
  const auto identity = identity_of(qemu);
  if (file_.empty() || !identity) return std::nullopt;
  const Answers answers = read(file_);
  const auto found = answers.find(identity->first);
  if (found == answers.end() || found->second.size != identity->second.size ||
      found->second.modified_ns != identity->second.modified_ns)
    return std::nullopt;
  return PluginApi{found->second.oldest, found->second.newest};
}

void PluginApiCache::keep(const std::filesystem::path& qemu, const PluginApi& api) const {
  auto identity = identity_of(qemu);
  if (file_.empty() || !identity) return;
  Answers answers = read(file_);
  if (answers.size() >= kMostAnswers) answers.clear();
  identity->second.oldest = api.oldest;
  identity->second.newest = api.newest;
  answers[identity->first] = identity->second;
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(), ignored);
  (void)write_json(file_, Kept{answers, checksum_of(answers)});
}

}  // namespace ringside::launch
