#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace ringside::exporters {

// Where an exporter's bytes go, piece by piece.
class Sink {
 public:
  virtual ~Sink() = default;
  [[nodiscard]] virtual Result<void> write(std::string_view text) = 0;
};

class StringSink final : public Sink {
 public:
  [[nodiscard]] Result<void> write(std::string_view text) override {
    text_.append(text);
    return {};
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A file that appears under its name at commit(), whole; "-" is standard output; a device or a pipe
// is written to directly. Errors name the file.
class FileSink final : public Sink {
 public:
  [[nodiscard]] static Result<FileSink> create(const std::string& path);
  [[nodiscard]] Result<void> write(std::string_view text) override;
  [[nodiscard]] Result<void> commit();

 private:
  FileSink(std::optional<AtomicFile> file, UniqueFd stream, std::string name);
  [[nodiscard]] Result<void> flush();

  std::optional<AtomicFile> file_;
  UniqueFd stream_;  // where it is no regular file
  std::string name_;
  std::string buffer_;
};

}  // namespace ringside::exporters
