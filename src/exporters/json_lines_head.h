#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recording/records.h"

// Lines of JSON Lines that describe what samples name, without their ends.
namespace ringside::exporters {

// Names that several have. Lines have the number of what has such a name, too.
class SharedNames {
 public:
  // To be called once for each that has it.
  void add(std::string_view name);
  // The member with a comma in front; empty where one alone has the name.
  [[nodiscard]] std::string number(std::string_view member, std::string_view name,
                                   std::uint32_t id) const;

 private:
  std::set<std::string, std::less<>> all_;
  std::set<std::string, std::less<>> shared_;
};
struct LineNames {
  SharedNames sources;
  SharedNames event_types;
  SharedNames images;
};

[[nodiscard]] std::string header_line(const recording::Header& header);
// `clocks` by number.
[[nodiscard]] std::string source_line(const recording::Source& source,
                                      const std::map<std::uint32_t, recording::Clock>& clocks,
                                      const LineNames& names);
[[nodiscard]] std::string event_type_line(const recording::EventType& type,
                                          const recording::Source& source, const LineNames& names);
[[nodiscard]] std::string image_line(const recording::ImageInfo& image, const LineNames& names);

}  // namespace ringside::exporters
