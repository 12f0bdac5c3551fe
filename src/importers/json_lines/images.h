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

  // False where there are too many of them. Errors: kFormat where it is broken; the writer's.
  [[nodiscard]] Result<bool> add(const Item& line);

  struct Known {
    std::uint32_t id = 0;
    // Whether frames without a name are looked up there: no other file has that name, and it is
    // proven to be the one that ran, or there is none.
    bool has_names = false;
    bool has_file = false;
  };
  // That of a frame, by its number or, where it has none, by its name. Where several have the name,
  // it is an image without a file. Null: there is none. Errors: the writer's.
  [[nodiscard]] Result<const Known*> find(const Item& frame);

 private:
  recording::Writer& writer_;
  struct Named {
    Known known;
    bool is_doubtful = false;  // it has a file, and another one has the name
  };

  std::size_t count_ = 0;
  std::map<std::string, Named, std::less<>> images_;  // the first of that name
  std::map<std::uint64_t, Known> numbered_;           // by the file's numbers
};

}  // namespace ringside::importers::json_lines
