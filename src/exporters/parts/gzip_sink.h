#pragma once

#include <memory>
#include <string_view>

#include "exporters/sink.h"

namespace ringside::exporters {

// Compresses what it gets as one gzip member, without a time or a name: the same input gives the
// same bytes. Little of it is held.
class GzipSink final : public Sink {
 public:
  explicit GzipSink(Sink& out);
  ~GzipSink() override;
  [[nodiscard]] Result<void> write(std::string_view bytes) override;
  // Writes the end. To be called once, behind the last write().
  [[nodiscard]] Result<void> finish();

 private:
  struct State;
  [[nodiscard]] Result<void> deflate(std::string_view bytes, bool is_last);

  Sink& out_;
  std::unique_ptr<State> state_;
};

}  // namespace ringside::exporters
