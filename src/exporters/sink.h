#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"

namespace ringside::exporters {

// perf's colours of shares.
enum class Colour { kRed, kGreen };

// Where an exporter's text goes, piece by piece.
class Sink {
 public:
  virtual ~Sink() = default;
  [[nodiscard]] virtual Result<void> write(std::string_view text) = 0;
  // Text within a line, in a colour where the sink has colours.
  [[nodiscard]] virtual Result<void> paint(std::string_view text, Colour) { return write(text); }
  // Whether bytes can be replaced that were written before: not those of a pipe.
  [[nodiscard]] virtual bool can_rewrite() const { return false; }
  // Replaces bytes from that offset on, all of which were written. Only where can_rewrite().
  [[nodiscard]] virtual Result<void> rewrite(std::uint64_t /*offset*/, std::string_view /*text*/) {
    return fail(ErrorCode::kUnsupported, "this output cannot be rewritten");
  }
};

class StringSink final : public Sink {
 public:
  [[nodiscard]] Result<void> write(std::string_view text) override {
    text_.append(text);
    return {};
  }
  [[nodiscard]] bool can_rewrite() const override { return true; }
  [[nodiscard]] Result<void> rewrite(std::uint64_t offset, std::string_view text) override {
    text_.replace(offset, text.size(), text);
    return {};
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The descriptor of this process that an output's name stands for: "-" and /dev/stdout are standard
// output, /dev/fd/3 is 3. The file behind it is not replaced: somebody has it open, and may have
// written to it.
[[nodiscard]] std::optional<int> descriptor_of(const std::string& output);

// A text file that appears under its name at commit(), whole (base/atomic_file.h). A descriptor, a
// device or a pipe is written to directly. Whatever an exporter lets through, the file
// holds nothing that drives a terminal (base/text.h) but the colours of paint(), and those only
// after use_colours(); keep_bytes() is for files that are not text. Errors name the file; kClosed:
// the reader of a pipe is gone.
class FileSink final : public Sink {
 public:
  [[nodiscard]] static Result<FileSink> create(const std::string& path);
  // Writes to a pipe or a terminal. `name` is for errors.
  [[nodiscard]] static FileSink to_stream(UniqueFd stream, std::string name);
  void use_colours() { has_colours_ = true; }
  // The output is not text: every byte stays.
  void keep_bytes() { keeps_bytes_ = true; }
  [[nodiscard]] Result<void> write(std::string_view text) override;
  [[nodiscard]] Result<void> paint(std::string_view text, Colour colour) override;
  [[nodiscard]] bool can_rewrite() const override { return file_.has_value() && keeps_bytes_; }
  [[nodiscard]] Result<void> rewrite(std::uint64_t offset, std::string_view text) override;
  [[nodiscard]] Result<void> commit();
  // After commit(): sentences on what the file could not keep of the one that it has replaced.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  FileSink(std::optional<AtomicFile> file, UniqueFd stream, std::string name);
  [[nodiscard]] Result<void> flush();

  std::optional<AtomicFile> file_;
  UniqueFd stream_;  // where it is no regular file
  std::string name_;
  bool has_colours_ = false;
  bool keeps_bytes_ = false;
  TextFilter filter_;
  std::string buffer_;
};

}  // namespace ringside::exporters
