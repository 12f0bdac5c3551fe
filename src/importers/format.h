#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "elf/elf_file.h"
#include "recording/writer.h"

namespace ringside::importers {

// A file that another program has written.
struct Input {
  std::string name;  // for messages
  Bytes bytes;       // outlive the import
  // Gives back the memory of pages that were read; may be empty. Formats that read large files in
  // one pass call it now and then.
  std::function<void()> release;
  bool was_compressed = false;  // `bytes` are what a compressed file holds

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// Where a kernel's code is while it runs.
struct CodeRange {
  GuestVirt start;
  GuestVirt end;  // behind the last byte
};

struct ImportOptions {
  // The kernel that --kernel or --symbols names; null where none is given.
  std::shared_ptr<const elf::ElfFile> kernel;
  std::optional<std::uint64_t> kernel_load_bias;  // as --load-bias has it
  // Where the target puts it unless the import places it; empty where none is given.
  std::vector<CodeRange> kernel_code;
  // Ticks a second of the time stamp counter; 0: not known. Times are ticks then.
  double counter_hz = 0;
  std::map<std::uint32_t, std::string> context_names;  // of a kernel's contexts, by their ids
  // Maestro's own counts: the name of the symbol that holds an address. Set where a stack is to be
  // cut at each frame that has no name.
  std::function<std::optional<std::string>(GuestVirt)> maestro_name;

  [[nodiscard]] bool is_kernel_code(GuestVirt address) const;
};

// Makes the recording that an import fills.
class Target {
 public:
  virtual ~Target() = default;
  // Where the input shows that the kernel of ImportOptions ran: guest address minus linked address,
  // modulo 2^64. To be called before create(); --load-bias counts more.
  virtual void place_kernel(std::uint64_t /*load_bias*/) {}
  // To be called once, when it is known what the input holds and that it holds something. The
  // target fills what the input does not know: ringside's version, and the kernel's name and
  // architecture where the header has none. The recording has the image of --kernel then.
  [[nodiscard]] virtual Result<recording::Writer*> create(
      recording::Header header, const std::vector<recording::Source>& sources) = 0;
};

struct Imported {
  std::uint64_t records = 0;          // samples and events that were read
  std::vector<std::string> warnings;  // sentences about what was not, with the input's name
};

enum class Likeness {
  kNone,
  kFits,     // it has no mark, and all of it, or its beginning, could be of that format
  kCertain,  // it begins as nothing else does
};

// A format that becomes a recording: one row of formats().
struct Format {
  const char* name;     // of --input-format
  const char* summary;  // for --help: what writes it
  Likeness (*likeness)(const Input& input, const ImportOptions& options);
  // Statistics are added; the recording is not finished. Errors: where nothing at all could be
  // read, with input and offset; the writer's.
  Result<Imported> (*read)(std::span<const Input> inputs, const ImportOptions& options,
                           Target& target);
  std::vector<std::string_view> takes;  // options that only some formats have a use for
  bool takes_several = false;           // files, for instance one of each CPU
  bool has_mark = true;  // false: binary data that only a kernel's addresses in it reveal

  [[nodiscard]] bool takes_option(std::string_view option) const {
    return std::find(takes.begin(), takes.end(), option) != takes.end();
  }
};

// All formats, in the order of --help.
[[nodiscard]] std::span<const Format> formats();
// Null if there is none of that name.
[[nodiscard]] const Format* format_named(std::string_view name);

}  // namespace ringside::importers
