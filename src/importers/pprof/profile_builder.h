#pragma once

#include <zlib.h>

#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pprof.h"

namespace ringside::importers::pprof {

namespace field = formats::pprof;

// Builds profiles for tests, as protobuf has them.
class ProfileBuilder {
 public:
  ProfileBuilder() { text(""); }

  std::int64_t text(std::string_view value) {
    texts_.emplace_back(value);
    return static_cast<std::int64_t>(texts_.size() - 1);
  }

  void type(std::string_view name, std::string_view unit,
            std::uint32_t field = field::kSampleType) {
    std::string bytes;
    protozero::pbf_writer type(bytes);
    type.add_int64(field::kType, text(name));
    type.add_int64(field::kUnit, text(unit));
    profile_.add_message(field, bytes);
  }

  void number(std::uint32_t field, std::int64_t value) { profile_.add_int64(field, value); }

  void mapping(std::uint64_t id, std::uint64_t start, std::uint64_t limit, std::string_view file,
               std::string_view build_id = {}, std::uint64_t offset = 0) {
    std::string bytes;
    protozero::pbf_writer mapping(bytes);
    mapping.add_uint64(field::kMappingId, id);
    mapping.add_uint64(field::kMemoryStart, start);
    mapping.add_uint64(field::kMemoryLimit, limit);
    mapping.add_uint64(field::kFileOffset, offset);
    mapping.add_int64(field::kFilename, text(file));
    mapping.add_int64(field::kBuildId, text(build_id));
    profile_.add_message(field::kMapping, bytes);
  }

  void function(std::uint64_t id, std::string_view name, std::string_view file = {}) {
    std::string bytes;
    protozero::pbf_writer function(bytes);
    function.add_uint64(field::kFunctionId, id);
    function.add_int64(field::kName, text(name));
    function.add_int64(field::kFile, text(file));
    profile_.add_message(field::kFunction, bytes);
  }

  struct Line {
    std::uint64_t function = 0;
    std::int64_t line = 0;
  };
  void location(std::uint64_t id, std::uint64_t mapping, std::uint64_t address,
                const std::vector<Line>& lines = {}) {
    std::string bytes;
    protozero::pbf_writer location(bytes);
    location.add_uint64(field::kLocationNumber, id);
    if (mapping != 0) location.add_uint64(field::kMappingOf, mapping);
    location.add_uint64(field::kAddress, address);
    for (const Line& line : lines) {
      std::string line_bytes;
      protozero::pbf_writer out(line_bytes);
      out.add_uint64(field::kFunctionOf, line.function);
      out.add_int64(field::kLineNumber, line.line);
      location.add_message(field::kLine, line_bytes);
    }
    profile_.add_message(field::kLocation, bytes);
  }

  struct Label {
    std::string_view key;
    std::string_view text;
    std::int64_t number = 0;  // where `text` is empty
  };
  void sample(const std::vector<std::uint64_t>& locations, const std::vector<std::int64_t>& values,
              const std::vector<Label>& labels = {}) {
    std::string bytes;
    protozero::pbf_writer sample(bytes);
    sample.add_packed_uint64(field::kLocationId, locations.begin(), locations.end());
    sample.add_packed_int64(field::kValue, values.begin(), values.end());
    for (const Label& label : labels) {
      std::string label_bytes;
      protozero::pbf_writer out(label_bytes);
      out.add_int64(field::kKey, text(label.key));
      if (label.text.empty())
        out.add_int64(field::kNumber, label.number);
      else
        out.add_int64(field::kText, text(label.text));
      sample.add_message(field::kLabel, label_bytes);
    }
    profile_.add_message(field::kSample, bytes);
  }

  // The profile with all texts behind it.
  [[nodiscard]] std::string finish() {
    for (const std::string& value : texts_) profile_.add_string(field::kStringTable, value);
    texts_.clear();
    return bytes_;
  }

 private:
  std::string bytes_;
  protozero::pbf_writer profile_{bytes_};
  std::vector<std::string> texts_;
};

// As one gzip member.
[[nodiscard]] inline std::string gzipped(std::string_view text) {
  z_stream stream = {};
  constexpr int kGzip = 16 + MAX_WBITS;
  std::string out(::compressBound(static_cast<uLong>(text.size())) + 64, '\0');
  ::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace ringside::importers::pprof
