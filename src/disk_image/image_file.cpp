#include "disk_image/image_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/split.h"
#include "base/whole_number.h"
#include "disk_image/temporary_file.h"
#include "disk_image/tool.h"

namespace ringside::disk_image {
namespace {

using nlohmann::json;

struct Source {
  std::string name;                    // for messages
  std::vector<std::string> arguments;  // that name it for qemu-img
  std::vector<int> files;              // that these refer to
  std::uint64_t size = 0;
};

// The error where qemu-img does not read an image.
tl::unexpected<Error> refusal(const std::string& name, const ToolOutput& output) {
  if (output.err.find("Failed to get") != std::string::npos &&
      output.err.find("lock") != std::string::npos)
    return fail(ErrorCode::kUsage,
                "{}: a running QEMU has this image open, and its contents may change: end that "
                "guest first, or copy the disk with its monitor (drive_backup -f DEVICE COPY) and "
                "name the copy",
                name);
  if (has_no_room(output)) return no_room(name);
  std::string_view text = output.err;
  std::string_view line = take_line(text);
  if (constexpr std::string_view kPrefix = "qemu-img: "; line.starts_with(kPrefix))
    line.remove_prefix(kPrefix.size());
  // The reason comes last, behind the name of a file that may be long.
  constexpr std::size_t kLongest = 300;
  const bool is_cut = line.size() > kLongest;
  if (is_cut) line.remove_prefix(line.size() - kLongest);
  return fail(ErrorCode::kFormat, "{}: qemu-img cannot read this image: {}{}", name,
              is_cut ? "… " : "", line.empty() ? "it gives no reason" : line);
}

// "(12.34/100%)" is the progress that qemu-img prints again and again.
void show_progress(const std::string& piece, const Listener& listener) {
  const std::size_t end = piece.rfind("/100%)");
  const std::size_t begin = end == std::string::npos ? end : piece.rfind('(', end);
  if (begin == std::string::npos || !listener.progress) return;
  const std::string_view number = std::string_view(piece).substr(begin + 1, end - begin - 1);
  if (const auto whole = whole_number<unsigned>(number.substr(0, number.find('.'))))
    listener.progress(*whole / 100.0);
}

// How many bytes of a source are not holes; 0 where qemu-img does not say so.
Result<std::uint64_t> used_bytes(const Source& source) {
  ToolRun run{.arguments = {"measure", "--output=json", "-O", "qcow2"}, .files = source.files};
  run.arguments.insert(run.arguments.end(), source.arguments.begin(), source.arguments.end());
  RINGSIDE_ASSIGN(const ToolOutput output, run_tool(kQemuImg, run));
  if (!output.succeeded) return refusal(source.name, output);
  const json measured = json::parse(output.out, nullptr, false);
  const auto required = measured.is_object() ? measured.find("required") : measured.end();
  if (!measured.is_object() || required == measured.end() || !required->is_number_unsigned())
    return 0;
  return required->get<std::uint64_t>();
}

// Copies a source into the file `file`, which has its size and holds zeros.
Result<void> convert(const Source& source, int file, const Listener& listener) {
  ToolRun run{.arguments = {"convert", "-p", "-n", "--target-is-zero", "-O", "raw"},
              .files = source.files,
              .limit = copy_limit(source.size),
              .on_output = [&](const std::string& piece) { show_progress(piece, listener); }};
  run.arguments.insert(run.arguments.end(), source.arguments.begin(), source.arguments.end());
  run.arguments.push_back(name_of_descriptor(file));
  run.files.push_back(file);
  RINGSIDE_ASSIGN(const ToolOutput output, run_tool(kQemuImg, run));
  if (!output.succeeded) return refusal(source.name, output);
  return {};
}

Result<UniqueFd> copy(const Source& source, const Listener& listener) {
  RINGSIDE_ASSIGN(UniqueFd file, make_temporary_file(source.size));
  RINGSIDE_ASSIGN(const std::uint64_t used, used_bytes(source));
  RINGSIDE_TRY(check_room(file.get(), used, source.name));
  RINGSIDE_TRY(convert(source, file.get(), listener));
  return file;
}

Source part_of(const ImageFile& image, std::uint64_t offset, std::uint64_t size,
               const std::string& name) {
  const std::string part =
      fmt::format("driver=raw,offset={},size={},file.driver=file,file.filename={}", offset, size,
                  name_of_descriptor(image.fd.get()));
  return {name, {"--image-opts", part}, {image.fd.get()}, size};
}

// Only `convert` takes the lock on a raw image that a running QEMU does not share. `info` and
// `measure` take none that conflicts (QEMU 10.0).
Result<void> check_not_held(const ImageFile& image) {
  constexpr std::uint64_t kFew = 512;
  if (image.size < kFew) return {};
  RINGSIDE_ASSIGN(const UniqueFd file, make_temporary_file(kFew));
  return convert(part_of(image, 0, kFew, image.path.string()), file.get(), {});
}

struct Facts {
  std::string format;
  std::uint64_t size = 0;
  std::string other_file = {};  // one that the image names and that has a part of its contents
};

// Null where there is none.
json member(const json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found == object.end() ? json() : *found;
}

std::string text_at(const json& object, const char* name) {
  const json text = member(object, name);
  return text.is_string() ? text.get<std::string>() : std::string();
}

// The backing file, the data file or another extent; empty where there is none. `info` is what
// qemu-img gives of the image at `path`.
std::string other_file_of(const json& info, const std::string& path) {
  if (std::string backing = text_at(info, "backing-filename"); !backing.empty()) return backing;
  const json data = member(member(info, "format-specific"), "data");
  if (std::string file = text_at(data, "data-file"); !file.empty()) return file;
  for (const json& extent : member(data, "extents"))
    if (std::string file = text_at(extent, "filename"); !file.empty() && file != path) return file;
  return {};
}

// Whether a name ends as those of images of that format do.
bool has_ending_of(const std::string& format, const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (format == "vpc") return ending == ".vpc" || ending == ".vhd";
  return ending == "." + format || (format == "qcow2" && ending == ".qcow");
}

// A guest writes what it likes to a raw disk, also the header of a format that names a file of the
// host's.
Result<void> check_other_file(const Facts& facts, const std::filesystem::path& path) {
  if (facts.other_file.empty() || has_ending_of(facts.format, path)) return {};
  return fail(
      ErrorCode::kUsage,
      "{}: its contents are a {} image that names the file {}, and a guest may have written "
      "that to a raw disk: if it is meant, rename the image to end in .{}",
      path.string(), facts.format, facts.other_file, facts.format);
}

// `info` opens one image after the other, so it finds a chain that leads back to one of its own
// images. `measure` and `convert` never end with such a chain (QEMU 10.0). `path` is absolute.
Result<void> check_chain(const Facts& facts, const std::string& path, const std::string& name) {
  if (facts.other_file.empty()) return {};
  RINGSIDE_ASSIGN(const ToolOutput output,
                  run_tool(kQemuImg, {.arguments = {"info", "--output=json", "--backing-chain",
                                                    "-f", facts.format, path}}));
  if (output.succeeded) return {};
  if (output.err.find("infinite loop") == std::string::npos) return refusal(name, output);
  return fail(ErrorCode::kFormat,
              "{}: the backing file {} leads back to an image before it, so none of them has "
              "contents: 'qemu-img rebase -u' names another one",
              name, facts.other_file);
}

// `path` is absolute: qemu-img takes what stands before a colon elsewhere for a protocol.
Result<Facts> read_facts(const std::string& path, const std::string& name) {
  RINGSIDE_ASSIGN(const ToolOutput output,
                  run_tool(kQemuImg, {.arguments = {"info", "--output=json", path}}));
  if (!output.succeeded) return refusal(name, output);
  const json info = json::parse(output.out, nullptr, false);
  if (info.is_object()) {
    const auto format = info.find("format");
    const auto size = info.find("virtual-size");
    if (format != info.end() && format->is_string() && size != info.end() &&
        size->is_number_unsigned())
      return Facts{format->get<std::string>(), size->get<std::uint64_t>(),
                   other_file_of(info, path)};
  }
  return fail(ErrorCode::kFormat, "{}: qemu-img does not say of which format it is", name);
}

}  // namespace

Result<ImageFile> open_image(const std::filesystem::path& path, const Listener& listener) {
  ImageFile image{path, UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), 0};
  if (!image.fd.valid()) return fail_errno(path.string());
  struct stat info {};
  if (::fstat(image.fd.get(), &info) != 0) return fail_errno(path.string());
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::kUsage, "{}: no regular file, so no disk image", path.string());
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  RINGSIDE_ASSIGN(const Facts facts, read_facts(absolute, path.string()));
  if (facts.format == "raw") {
    image.size = static_cast<std::uint64_t>(info.st_size);
    RINGSIDE_TRY(check_not_held(image));
    return image;
  }
  RINGSIDE_TRY(check_other_file(facts, path));
  RINGSIDE_TRY(check_chain(facts, absolute, path.string()));
  image.size = facts.size;
  RINGSIDE_ASSIGN(image.fd,
                  copy({path.string(), {"-f", facts.format, absolute}, {}, facts.size}, listener));
  return image;
}

Result<UniqueFd> copy_part(const ImageFile& image, std::uint64_t offset, std::uint64_t size,
                           const std::string& name, const Listener& listener) {
  return copy(part_of(image, offset, size, name), listener);
}

}  // namespace ringside::disk_image
