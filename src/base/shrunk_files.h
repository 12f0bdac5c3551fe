#pragma once

#include <cstddef>
#include <string>
#include <vector>

// A mapped file that becomes shorter takes its pages away: reading them is SIGBUS. A kernel that is
// linked again while ringside reads it is one. Mappings that are watched get a page of zeros there
// instead, so that what reads them finds a damaged file.
namespace ringside {

enum class MappedFor { kReading, kWriting };

// Watches a mapping of the file `name` from now on. False: too many are watched. SIGBUS is handled
// from the first call on; a fault elsewhere ends the process as before. Data written into a page
// that was taken away is lost.
[[nodiscard]] bool watch_mapping(const void* begin, std::size_t size, const std::string& name,
                                 MappedFor use = MappedFor::kReading);
// Before the mapping is removed; nothing happens to one that is not watched.
void forget_mapping(const void* begin);

// The files that have become shorter while they were read, each once since the last call.
[[nodiscard]] std::vector<std::string> take_shrunk_files();

}  // namespace ringside
