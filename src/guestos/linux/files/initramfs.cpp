#include "guestos/linux/files/initramfs.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/file.h"
#include "base/little_endian.h"
#include "kernel_image/kernel_compression.h"

namespace ringside::guestos {
namespace {

constexpr std::string_view kOldMagic = "070707";
constexpr std::string_view kLastName = "TRAILER!!!";
constexpr std::size_t kMaxName = 4096;  // PATH_MAX, with the byte that ends it
constexpr unsigned kMaxLinks = 40;      // that are followed for one name, MAXSYMLINKS
constexpr unsigned kMaxParts = 256;     // of a name and the links in it

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Header in front of every name: a magic number, and 13 numbers of 8 hexadecimal digits.
struct Header {
  static constexpr std::size_t kBytes = 110;

  std::uint32_t inode = 0;
  std::uint32_t mode = 0;
  std::uint32_t links = 0;
  std::uint32_t size = 0;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t name_size = 0;
};

Result<Header> read_header(ByteReader& reader) {
  const std::size_t at = reader.offset();
  RINGSIDE_ASSIGN(const Bytes bytes, reader.read_bytes(Header::kBytes));
  const std::string_view text = text_of(bytes);
  if (text.starts_with(kOldMagic))
    return fail(ErrorCode::kUnsupported,
                "a cpio archive of an old format (cpio -H newc is wanted)");
  if (!text.starts_with("070701") && !text.starts_with("070702"))
    return fail(ErrorCode::kFormat, "no entry of a cpio archive at {:#x}", at);
  std::array<std::uint32_t, 13> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const char* const digits = text.data() + 6 + 8 * i;
    if (std::from_chars(digits, digits + 8, numbers[i], 16).ptr != digits + 8)
      return fail(ErrorCode::kFormat, "an entry of a cpio archive without its numbers at {:#x}",
                  at);
  }
  return Header{.inode = numbers[0],
                .mode = numbers[1],
                .links = numbers[4],
                .size = numbers[6],
                .major = numbers[7],
                .minor = numbers[8],
                .name_size = numbers[11]};
}

// Names and contents end at multiples of 4; at the very end the kernel does without.
void skip_padding(ByteReader& reader, std::size_t since) {
  const std::size_t padding = (since - reader.offset()) & 3;
  (void)reader.skip(std::min(padding, reader.remaining()));
}

bool is_program(Bytes contents) {
  constexpr std::size_t kType = EI_NIDENT;  // in both classes
  if (contents.size() < kType + sizeof(Elf64_Half) || !text_of(contents).starts_with(ELFMAG))
    return false;
  return load<Elf64_Half>(contents, kType) != ET_REL;
}

}  // namespace

class Initramfs::Unpacking {
 public:
  explicit Unpacking(std::size_t max_bytes) : room_(max_bytes) {}

  Result<void> add(Bytes bytes, bool may_be_packed);
  [[nodiscard]] std::map<std::string, Contents> take() { return std::move(files_); }

 private:
  // Device and inode of a file with several names.
  using FileId = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  struct HardLinked {
    std::vector<std::string> waiting;  // names whose contents stand behind a later one: the last
    Contents file;
  };

  // The one that begins at `start`; returns where it ends.
  [[nodiscard]] Result<std::size_t> add_archive(Bytes bytes, std::size_t start);
  [[nodiscard]] Result<bool> add_entry(ByteReader& reader);
  void put(const Header& header, const std::string& path, Bytes contents);
  void put(const std::string& path, const Contents& file);
  // The path of what a name leads to, by the symbolic links so far but for the last part.
  [[nodiscard]] std::optional<std::string> resolve(std::string_view name) const;

  std::map<std::string, Contents> files_;
  std::map<std::string, std::string> links_;
  std::map<FileId, HardLinked> hard_linked_;
  std::size_t room_;  // for what is packed, bytes
  std::size_t entries_ = 0;
};

// unpack_to_rootfs(): zeros may stand between archives. A packed part contains archives and zeros
// only.
Result<void> Initramfs::Unpacking::add(Bytes bytes, bool may_be_packed) {
  for (std::size_t at = 0; at < bytes.size();) {
    const Bytes rest = bytes.subspan(at);
    if (rest[0] == std::byte{0}) {
      ++at;
      continue;
    }
    if (rest[0] == std::byte{'0'}) {
      RINGSIDE_ASSIGN(at, add_archive(bytes, at));
      continue;
    }
    const auto compression = kernel_image::compression_of(rest);
    if (!may_be_packed || !compression)
      return fail(ErrorCode::kFormat, "neither a cpio archive nor a packed one at {:#x}", at);
    const auto unpacked = kernel_image::decompress_stream(*compression, rest, room_);
    if (!unpacked)
      return fail(unpacked.error().code, "{} at {:#x}: {}", kernel_image::name_of(*compression), at,
                  unpacked.error().message);
    room_ -= unpacked->bytes.size();
    if (auto added = add(unpacked->bytes, false); !added)
      return fail(added.error().code, "what is packed by {} at {:#x}: {}",
                  kernel_image::name_of(*compression), at, added.error().message);
    at += unpacked->used;
  }
  return {};
}

Result<std::size_t> Initramfs::Unpacking::add_archive(Bytes bytes, std::size_t start) {
  ByteReader reader(bytes);
  RINGSIDE_TRY(reader.skip(start));
  hard_linked_.clear();
  for (bool goes_on = true; goes_on;) {
    RINGSIDE_ASSIGN(goes_on, add_entry(reader));
  }
  return reader.offset();
}

// False behind the last one.
Result<bool> Initramfs::Unpacking::add_entry(ByteReader& reader) {
  const std::size_t start = reader.offset();
  RINGSIDE_ASSIGN(const Header header, read_header(reader));
  if (header.name_size == 0 || header.name_size > kMaxName)
    return fail(ErrorCode::kFormat, "an entry with a name of {} bytes at {:#x}", header.name_size,
                start);
  if (++entries_ > kMaxEntries)
    return fail(ErrorCode::kUnsupported, "there are more than {} entries", kMaxEntries);
  RINGSIDE_ASSIGN(const Bytes name_bytes, reader.read_bytes(header.name_size));
  skip_padding(reader, start);
  RINGSIDE_ASSIGN(const Bytes contents, reader.read_bytes(header.size));
  skip_padding(reader, start);
  std::string_view name = text_of(name_bytes);
  name = name.substr(0, name.find('\0'));
  if (name == kLastName) return false;
  if (const auto path = resolve(name)) put(header, *path, contents);
  return !reader.empty();
}

void Initramfs::Unpacking::put(const Header& header, const std::string& path, Bytes contents) {
  // An earlier entry with this name gives way to another kind of file.
  links_.erase(path);
  if (S_ISLNK(header.mode)) {
    files_.erase(path);
    links_[path] = std::string(text_of(contents));
    return;
  }
  if (!S_ISREG(header.mode)) return;
  const auto file = is_program(contents) ? std::make_shared<const std::vector<std::byte>>(
                                               contents.begin(), contents.end())
                                         : nullptr;
  if (header.links < 2) return put(path, file);
  HardLinked& linked = hard_linked_[FileId{header.major, header.minor, header.inode}];
  linked.waiting.push_back(path);
  if (!contents.empty()) linked.file = file;
  if (contents.empty() && !linked.file) return;
  for (const std::string& name : linked.waiting) put(name, linked.file);
  linked.waiting.clear();
}

void Initramfs::Unpacking::put(const std::string& path, const Contents& file) {
  if (file)
    files_[path] = file;
  else
    files_.erase(path);
}

std::optional<std::string> Initramfs::Unpacking::resolve(std::string_view name) const {
  std::string path;
  std::string rest(name);
  unsigned followed = 0;
  for (unsigned parts = 0; !rest.empty(); ++parts) {
    if (parts == kMaxParts) return std::nullopt;
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string part = rest.substr(0, slash);
    rest.erase(0, std::min(rest.find_first_not_of('/', slash), rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      const std::size_t last = path.rfind('/');
      path.erase(last == path.npos ? 0 : last);
      continue;
    }
    const std::string here = path.empty() ? part : path + "/" + part;
    const auto link = links_.find(here);
    if (rest.empty() || link == links_.end()) {
      path = here;
      continue;
    }
    if (++followed > kMaxLinks || link->second.size() + rest.size() > kMaxName) return std::nullopt;
    if (link->second.starts_with('/')) path.clear();
    rest.insert(0, link->second + "/");
  }
  return path;
}

Result<Initramfs> Initramfs::from_bytes(Bytes bytes, std::size_t max_bytes) {
  Unpacking unpacking(max_bytes);
  RINGSIDE_TRY(unpacking.add(bytes, true));
  Initramfs initramfs;
  initramfs.files_ = unpacking.take();
  return initramfs;
}

Result<Initramfs> Initramfs::open(const std::filesystem::path& path) {
  RINGSIDE_ASSIGN(const auto file, MappedFile::open(path));
  auto initramfs = from_bytes(file->bytes());
  if (!initramfs)
    return fail(initramfs.error().code, "{}: {}", path.string(), initramfs.error().message);
  return initramfs;
}

Bytes Initramfs::find(const std::string& path) const {
  const auto file = files_.find(path.substr(std::min(path.find_first_not_of('/'), path.size())));
  return file == files_.end() ? Bytes() : Bytes(*file->second);
}

}  // namespace ringside::guestos
