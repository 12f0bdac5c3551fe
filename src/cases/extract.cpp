#include "cases/extract.h"

#include <cctype>
#include <set>
#include <string_view>

#include "arch/arch_info.h"
#include "base/atomic_file.h"
#include "cases/case_file.h"
#include "cases/case_text.h"
#include "cases/entry_text.h"
#include "cases/minimize/minimize_image.h"
#include "cases/replayer.h"

namespace ringside::cases {
namespace {

namespace fs = std::filesystem;

Result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(ErrorCode::kIo, "cannot make {}: {}", folder.string(), error.message());
  return {};
}

// A file beside the cases for an image, which the recording may call anything. Two images may have
// one name: the kernels of two boots.
std::string file_name(std::string_view image, std::set<std::string>& taken) {
  constexpr std::size_t kLongest = 100;
  constexpr std::string_view kPlain = "-_.+";
  std::string stem;
  for (const char c : image.substr(0, kLongest))
    stem +=
        std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos ? c : '_';
  if (stem.empty() || stem.front() == '.') stem.insert(0, "_");
  std::string name = stem + ".elf";
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}.elf", stem, i);
  return name;
}

// The addresses whose functions a case's images must hold: the frames that ringside finds, what an
// exception has interrupted, and whatever looks like a return address, signed or not, so that right
// and wrong walks find the same as with the whole image.
void collect_code(const wire::Capture& capture, const elf::ImageMap& images,
                  std::map<const elf::Image*, std::set<ImageAddr>>& code) {
  const auto add = [&](GuestVirt at) {
    if (const elf::Image* image = images.find_code(at)) code[image].insert(image->to_image(at));
  };
  const arch::RegisterRoles roles = arch::roles_of(capture.arch);
  if (!roles.known()) return;
  add({capture.registers.get(roles.pc)});
  const arch::ArchInfo& platform = arch::info_of(capture.arch);
  const auto add_return = [&](std::uint64_t to) {
    add({platform.code_address(to)});
    add({platform.code_address(to) - 1});
  };
  if (roles.link != arch::RegisterRoles::kNone) add_return(capture.registers.get(roles.link));
  if (platform.exception.pc != arch::kNoRegister)
    add({capture.registers.get(platform.exception.pc)});
  for (const wire::MemoryPiece& piece : capture.pieces)
    for (std::uint64_t at = 0; at + roles.pointer_size <= piece.size; at += roles.pointer_size) {
      const GuestVirt place = piece.address + at;
      const std::uint64_t word = roles.pointer_size == 8
                                     ? capture.read<std::uint64_t>(place).value_or(0)
                                     : capture.read<std::uint32_t>(place).value_or(0);
      add_return(word);
    }
}

class Extraction {
 public:
  Extraction(const ExtractRequest& request, std::vector<unwind::TrapFrameLayout> entries)
      : request_(request), whole_(request.images, std::move(entries)) {}

  Result<ExtractResult> run() {
    RINGSIDE_TRY(make_folder(request_.folder));
    RINGSIDE_TRY(write_shared());
    for (std::size_t i = 0; i < request_.captures.size(); ++i) {
      const std::string name = fmt::format("{:06}{}", request_.numbers[i], kCaseSuffix);
      RINGSIDE_TRY(write_case(request_.folder / name, request_.captures[i]));
    }
    return std::move(result_);
  }

 private:
  // The files that all cases share.
  Result<void> write_shared() {
    std::set<std::string> taken;
    std::map<const elf::Image*, std::set<ImageAddr>> code;
    for (const wire::Capture& capture : request_.captures)
      collect_code(capture, request_.images, code);
    for (const elf::Image& image : request_.images.images()) {
      const auto& wanted = code[&image];
      if (wanted.empty()) continue;
      const std::vector<ImageAddr> addresses(wanted.begin(), wanted.end());
      const std::vector<std::byte> minimized = minimize_image(image.file, addresses);
      const std::string name = file_name(image.name, taken);
      RINGSIDE_TRY(write_output(request_.folder / name, as_text(minimized)));
      parts_.images.push_back({image.name, name, image.load_bias});
    }
    if (!request_.trap_frame_layouts.empty()) {
      parts_.entries = "entries";
      RINGSIDE_TRY(write_output(request_.folder / parts_.entries, request_.trap_frame_layouts));
    }
    return write_output(request_.folder / "origin", request_.origin);
  }

  Result<void> write_case(const fs::path& path, const wire::Capture& capture) {
    CaseText parts = parts_;
    parts.capture = capture;
    parts.expected = whole_.replay(capture);
    RINGSIDE_TRY(write_output(path, case_text(parts)));
    RINGSIDE_ASSIGN(const auto written, load_case(path, cache_));
    result_.cases.push_back(path);
    const ExpectedStack found = replay(*written, Rules::kOrc).stack;
    if (!difference(parts.expected, found).empty()) result_.differing.push_back(path);
    return {};
  }

  const ExtractRequest& request_;
  Replayer whole_;
  CaseText parts_;  // the images and entries of all cases
  ImageCache cache_;
  ExtractResult result_;
};

}  // namespace

Result<ExtractResult> extract(const ExtractRequest& request) {
  if (request.captures.empty()) return fail(ErrorCode::kNotFound, "no capture is chosen");
  std::vector<unwind::TrapFrameLayout> entries;
  if (!request.trap_frame_layouts.empty()) {
    RINGSIDE_ASSIGN(entries,
                    parse_entries(request.trap_frame_layouts, request.captures.front().arch,
                                  "the recording's trap-frame layouts"));
  }
  return Extraction(request, std::move(entries)).run();
}

}  // namespace ringside::cases
