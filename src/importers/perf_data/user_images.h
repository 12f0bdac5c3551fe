#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "importers/perf_data/features.h"
#include "importers/perf_data/image_files.h"
#include "importers/perf_data/side_records.h"
#include "importers/perf_data/user_space.h"
#include "recording/writer.h"
#include "symbols/symbol_table.h"

namespace ringside::importers::perf_data {

// The files that processes have mapped, as images of the recording. A file becomes one when a frame
// lies in it. Frames have linked addresses, for which the program headers of the file are needed:
// where there is no such file here, the place in it stands for its linked address, as GNU ld links
// code, or the address itself in an executable at a low address, which is linked to where it runs.
class UserImages {
 public:
  UserImages(const Features& features, const ImageFiles& files)
      : features_(features), files_(files) {}
  // To be called first, when the recording is there.
  void start(recording::Writer& writer) { writer_ = &writer; }

  // The number of the file that a process maps.
  [[nodiscard]] std::uint32_t number_of(const MapRecord& map);

  // Its image, and how its addresses become linked ones.
  struct Place {
    std::uint32_t image = 0;
    std::uint64_t load_bias = 0;  // address minus linked address, modulo 2^64
    ImageFiles::ElfPointer file;  // null: not here
  };
  [[nodiscard]] Result<Place> place_of(const UserSpace::Range& range);
  // To be called for each frame: records the name of code that was made at run time.
  [[nodiscard]] Result<void> note(std::uint32_t image, std::uint64_t address);

 private:
  static constexpr std::size_t kMostFiles = 1 << 17;
  static constexpr std::size_t kMostBytes = 32u << 20;  // of keys

  enum class Kind : std::uint8_t { kFile, kVdso, kJit, kOther };
  struct Jit {
    symbols::SymbolTable names;
    std::unordered_set<std::uint64_t> recorded;  // by their starts
  };
  struct MappedFileInfo {
    Kind kind = Kind::kOther;
    std::uint32_t pid = 0;  // of kJit
    std::string path;
    std::vector<std::byte> build_id;  // that its mapping has said
    std::uint32_t image = 0;          // 0: not recorded yet
    ImageFiles::ElfPointer file;
  };
  [[nodiscard]] Result<void> record(MappedFileInfo& info);
  [[nodiscard]] std::vector<std::byte> build_id_of(const MappedFileInfo& info) const;

  const Features& features_;
  const ImageFiles& files_;
  recording::Writer* writer_ = nullptr;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by path and what else tells it apart
  std::size_t key_bytes_ = 0;
  std::vector<MappedFileInfo> infos_;
  std::unordered_map<std::uint32_t, Jit> jits_;  // by image
};

}  // namespace ringside::importers::perf_data
