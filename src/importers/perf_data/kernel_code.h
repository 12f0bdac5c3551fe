#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "importers/format.h"
#include "importers/perf_data/features.h"
#include "importers/perf_data/image_files.h"
#include "importers/perf_data/kernel_names.h"
#include "importers/perf_data/side_records.h"
#include "recording/writer.h"

namespace ringside::importers::perf_data {

// Whether a mapping is of a kernel itself, its module, or of neither.
[[nodiscard]] bool is_kernel_path(std::string_view path);

// The code of a kernel, which all processes share: itself, its modules, and what it makes as it
// runs (KSYMBOL). Each part becomes an image of the recording when a frame lies in it.
class KernelCode {
 public:
  // `name` is that of the kernel's image.
  KernelCode(const ImportOptions& options, const Features& features, const ImageFiles& files,
             bool is_guest)
      : options_(options), features_(features), files_(files), is_guest_(is_guest) {}
  // To be called first, when the recording is there.
  void start(recording::Writer& writer) { writer_ = &writer; }

  [[nodiscard]] bool is_mapped() const { return !maps_.empty(); }
  // It is the kernel of --kernel, as far as that can be seen. To be called once, when its mapping
  // is known. Returns the load bias that the mapping shows; a sentence goes to `warnings` where the
  // file is another kernel's, which is not used then.
  [[nodiscard]] std::optional<std::uint64_t> adopt_given(std::vector<std::string>& warnings);
  // Another number after each change.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  void map(const MapRecord& record, std::uint64_t time_ns);
  void add(const KsymbolRecord& record);

  // The frame at an address, with its image where one is known.
  [[nodiscard]] Result<recording::RecordedFrame> frame_at(std::uint64_t address, bool exact);
  // The name of the kernel's image.
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  static constexpr std::size_t kMostMaps = 16384;
  static constexpr std::size_t kMostSymbols = 65536;

  struct Map {
    std::uint64_t end = 0;
    bool is_kernel = false;
    std::string module;  // of which it is, if it is not of the kernel
    std::string path;
    std::uint64_t valid_from_ns = 0;
    std::uint32_t image = 0;  // 0: not recorded yet
    std::uint32_t mapping = 0;
  };
  struct Made {
    std::uint64_t end = 0;
    std::string name;
    std::uint32_t text = 0;  // 0: not recorded yet
  };
  void find_build_id();
  // The recording has an image for the address, which the target has put there.
  [[nodiscard]] bool is_given(std::uint64_t address) const;
  [[nodiscard]] KernelNames& names();
  void extend_kernel(std::uint64_t end);
  [[nodiscard]] Result<void> record(std::uint64_t start, Map& map);
  [[nodiscard]] Result<std::uint32_t> image_of(std::uint64_t start, const Map& map);
  // Sets what is known of the image; returns its file, which is null where it is not here.
  [[nodiscard]] ImageFiles::ElfPointer describe(std::uint64_t start, const Map& map,
                                                recording::ImageInfo& info);

  const ImportOptions& options_;
  const Features& features_;
  const ImageFiles& files_;
  bool is_guest_;
  std::string name_ = "kernel";
  bool has_given_ = false;         // --kernel is this one
  std::uint64_t given_moved_ = 0;  // by how much, from where the target would put it
  recording::Writer* writer_ = nullptr;
  RunningKernel kernel_;
  std::optional<KernelNames> names_;
  std::map<std::uint64_t, Map> maps_;                         // by start
  std::map<std::uint64_t, Made> made_;                        // by start
  std::map<std::string, std::uint32_t, std::less<>> images_;  // of modules; "" is the kernel
  std::uint32_t made_image_ = 0;
  std::uint64_t version_ = 1;
};

}  // namespace ringside::importers::perf_data
