#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/types.h"
#include "importers/perf_data/attributes.h"

namespace ringside::importers::perf_data {

// The machine and how it was recorded, as far as a perf.data says that. All else is empty or 0.
struct Features {
  std::string host;
  std::string release;  // of the kernel, as uname gives it
  std::string version;  // of the program that wrote it
  Arch arch = Arch::kUnknown;
  std::uint32_t processors = 0;
  std::vector<std::string> command_line;
  // One moment by the wall clock and by the clock that samples have; 0: not known.
  std::uint64_t wall_ns = 0;
  std::uint64_t clock_ns = 0;
  std::map<std::string, std::vector<std::byte>, std::less<>> build_ids;  // by path
  std::vector<std::string> build_id_paths;  // of those, in the file's order
  bool is_of_folder = false;  // of 'perf record --threads': files beside it have the samples

  // ringside has moved return addresses to where a name is found without looking before them.
  [[nodiscard]] bool has_exact_callers() const { return version.starts_with("ringside "); }
};

// Reads the contents of one feature; names of events go to `attributes`. Features of other ids, and
// damaged ones, as far as they are, are passed over.
void read_feature(std::uint32_t id, Bytes bytes, Features& features, Attributes& attributes);

// The body of a record that says which build id a file has.
void read_build_id(std::uint16_t misc, Bytes body, Features& features);

}  // namespace ringside::importers::perf_data
