#include "exporters/annotation/json_annotation.h"

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "exporters/parts/json_text.h"

namespace ringside::exporters {
namespace {

using annotation::AnnotatedFunction;
using annotation::AnnotatedInstruction;
using annotation::AnnotatedLine;
using annotation::Annotation;
using annotation::Sum;

class Writer {
 public:
  Writer(const Annotation& annotation, Sink& sink) : annotation_(annotation), json_(sink) {}

  Result<void> write() {
    json_.add(R"({{"version":1,"input":{},"unit":"{}",)",
              json_quoted(printable_line(annotation_.input)), name_of(annotation_.unit));
    json_.add(R"("weight":{},"samples":{},)", annotation_.total.weight, annotation_.total.samples);
    json_.column("functions", annotation_.functions,
                 [&](std::size_t i) { add(annotation_.function(i)); });
    json_.add(R"("left_out":{{"functions":{},"weight":{},"samples":{}}}}})", annotation_.left_out,
              annotation_.left_out_sum.weight, annotation_.left_out_sum.samples);
    json_.add_text("\n");
    return json_.finish();
  }

 private:
  void add(const AnnotatedFunction& f) {
    json_.add(R"({{"name":{},"inlined":{},"image":{},"build_id":{},)", json_quoted(f.name),
              or_null(f.inlined), or_null(f.image), or_null(f.build_id));
    if (f.size != 0)
      json_.add(R"("address":"{}","image_address":"{:#x}","size":{},)", f.start,
                f.start.value - f.load_bias, f.size);
    else
      json_.add_text(R"("address":null,"image_address":null,"size":null,)");
    add_sum(f.sum, annotation_.extent);
    json_.add(R"("outside":{{"weight":{},"samples":{}}},)", f.outside.weight, f.outside.samples);
    json_.column("lines", f.lines.size(), [&](std::size_t i) { add(f, f.lines[i]); });
    json_.column("instructions", f.instructions.size(),
                 [&](std::size_t i) { add(f, f.instructions[i]); });
    std::vector<std::string> notes;
    for (const std::string& note : f.notes) notes.push_back(json_quoted(note));
    json_.add(R"("notes":[{}]}})", fmt::join(notes, ","));
  }

  void add(const AnnotatedFunction& f, const AnnotatedLine& line) {
    json_.add_text("\n{");
    add_sum(line.sum, profile::extent_of(f.sum.weight));
    json_.add(R"("file":{},"line":{},"text":{}}})",
              or_null(std::string(annotation_.strings[line.file])),
              line.line == 0 ? std::string("null") : std::to_string(line.line), or_null(line.text));
  }

  void add(const AnnotatedFunction& f, const AnnotatedInstruction& shown) {
    json_.add(R"({}{{"address":"{}","image_address":"{:#x}",)", "\n", shown.address,
              shown.address.value - f.load_bias);
    if (f.size != 0) json_.add(R"("offset":{},)", shown.address - f.start);
    add_sum(shown.sum, profile::extent_of(f.sum.weight));
    json_.add(R"("bytes":{},"text":{},)", or_null(hex_text(shown.bytes)), or_null(shown.text));
    if (shown.target)
      json_.add(R"("target":{{"address":"{}","inside":{},"name":{},"offset":{}}},)",
                shown.target->address, shown.target->is_inside,
                or_null(std::string(annotation_.strings[shown.target->name])),
                shown.target->offset);
    if (shown.is_target) json_.add_text(R"("is_target":true,)");
    std::vector<std::string> inlined;
    for (const profile::StringId id : shown.inlined)
      inlined.push_back(json_quoted(annotation_.strings[id]));
    json_.add(R"("inlined":[{}],"source":{}}})", fmt::join(inlined, ","), shown.line);
  }

  void add_sum(const Sum& sum, std::uint64_t of) {
    const double percent =
        of == 0 ? 0 : 100.0 * static_cast<double>(sum.weight) / static_cast<double>(of);
    json_.add(R"("weight":{},"samples":{},"percent":{:.4f},)", sum.weight, sum.samples, percent);
  }

  [[nodiscard]] static std::string or_null(const std::string& text) {
    return text.empty() ? "null" : json_quoted(text);
  }

  const Annotation& annotation_;
  JsonText json_;
};

}  // namespace

Result<void> write_json_annotation(const Annotation& annotation, Sink& sink) {
  return Writer(annotation, sink).write();
}

}  // namespace ringside::exporters
