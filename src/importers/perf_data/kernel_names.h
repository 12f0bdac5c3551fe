#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "importers/perf_data/features.h"
#include "importers/perf_data/image_files.h"
#include "recording/writer.h"
#include "symbols/symbol_table.h"

namespace ringside::importers::perf_data {

// The kernel that was recorded, by what MMAP says of it.
struct RunningKernel {
  std::vector<std::byte> build_id;  // empty: not known
  std::string reference;            // a symbol, "_text" or "_stext"; empty: not known
  std::uint64_t reference_at = 0;   // where it ran
  bool is_guest = false;
};

// Where the names of a kernel's code are: in a file of it, which readers of the recording open
// again, or in the symbols that a kernel shows while it runs, which are nowhere else and so are
// recorded, each when a frame lies in it. Looked for in this order: a vmlinux by its build id,
// perf's cache of build ids, and this machine's own kernel if that is it.
class KernelNames {
 public:
  KernelNames(const RunningKernel& kernel, const Features& features, const ImageFiles& files);

  // The kernel's file; null: not here.
  [[nodiscard]] const ImageFiles::ElfPointer& file() const { return file_; }
  // Where it ran minus where it is linked. Without a file, that of x86_64 is what its kernels are
  // linked to by default.
  [[nodiscard]] std::uint64_t load_bias() const { return load_bias_; }

  // Behind the kernel's last function, where it ran: its initialization stands behind its data, far
  // from where MMAP says that it ends. 0: not known.
  [[nodiscard]] std::uint64_t end() const;

  // Records some functions of the kernel's image, by which a reader's file is recognized.
  [[nodiscard]] Result<void> record_some(std::uint32_t image, recording::Writer& writer);
  // Records the function at `address` of the kernel (empty) or a module, which is `image` with that
  // load bias.
  [[nodiscard]] Result<void> record(const std::string& module, std::uint64_t address,
                                    std::uint32_t image, std::uint64_t load_bias,
                                    recording::Writer& writer);

 private:
  void read_list(const std::string& path, const RunningKernel& kernel, bool is_running);
  [[nodiscard]] Result<void> record(const symbols::Symbol& symbol, std::uint32_t image,
                                    std::uint64_t load_bias, recording::Writer& writer);

  ImageFiles::ElfPointer file_;
  std::uint64_t load_bias_ = 0;
  std::map<std::string, symbols::SymbolTable, std::less<>> tables_;  // by module
  std::uint64_t shift_ = 0;                     // where it ran minus the addresses of the list
  std::unordered_set<std::uint64_t> recorded_;  // by their starts
};

}  // namespace ringside::importers::perf_data
