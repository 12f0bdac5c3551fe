#pragma once

#include <string>
#include <vector>

#include "plugin/arguments.h"
#include "wire/capture.h"
#include "wire/sample_file.h"

namespace ringside::plugin {

// The file that samples go into where no ringside reads them. It is written in place, so that it
// can be read whatever becomes of QEMU.
class OutputFile {
 public:
  // False, with a line on standard error, where there can be no such file, or somebody else writes
  // it.
  [[nodiscard]] bool open(const std::string& path, OutFormat format,
                          const wire::SampleFileHeader& header);

  // A record from a ring. Nothing is written before flush().
  void add_record(Bytes record);
  void add_counts(const wire::VcpuCounts& counts);
  // False from the first error on, which it says on standard error.
  [[nodiscard]] bool flush();

 private:
  void add_addresses(Bytes record);

  std::string path_;
  OutFormat format_ = OutFormat::kRingside;
  int fd_ = -1;  // as long as QEMU lives
  bool failed_ = false;
  std::vector<std::byte> gathered_;
};

}  // namespace ringside::plugin
