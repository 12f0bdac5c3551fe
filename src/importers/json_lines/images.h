#pragma once

#include <map>
#include <string>

#include "importers/json_lines/line.h"
#include "recording/writer.h"

namespace ringside::importers::json_lines {

// The images of a file, which frames name.
class Images {
 public:
  explicit Images(recording::Writer& writer) : writer_(writer) {}

  // False where there are too many of them. Errors: the writer's.
  [[nodiscard]] Result<bool> add(const Item& line);

  struct Known {
    std::uint32_t id = 0;
    // Whether frames without a name are looked up there: no other file has that name, and it is
    // proven to be the one that ran, or there is none.
    bool has_names = false;
    bool has_file = false;
  };
  // The first of that name. Null: there is none.
  [[nodiscard]] const Known* find(std::string_view name) const;

 private:
  recording::Writer& writer_;
  std::map<std::string, Known, std::less<>> images_;
};

}  // namespace ringside::importers::json_lines
