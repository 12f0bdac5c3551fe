#include "importers/perf_data/perf_data.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/byte_cursor.h"
#include "importers/perf_data/file_header.h"
#include "importers/perf_data/record_reader.h"
#include "importers/perf_data/sample_import.h"
#include "importers/perf_data/time_order.h"

namespace ringside::importers {
namespace perf_data {
namespace {

constexpr std::uint64_t kReleaseEvery = 64u << 20;  // bytes

// Reads perf's own records at once, and hands on the kernel's in their order of time.
class Import final : public RecordSink {
 public:
  Import(const Input& input, FileHeader header, const ImportOptions& options, Target& target)
      : input_(input),
        header_(std::move(header)),
        files_(build_id_folders(input.name), header_.features),
        samples_(header_, files_, options, target, faults_) {}

  Result<Imported> run() {
    RecordReader reader(chunks_, faults_, *this);
    RINGSIDE_TRY(reader.read(header_.records, header_.records_at));
    RINGSIDE_TRY(order_.finish());
    RINGSIDE_TRY(samples_.finish());
    if (samples_.samples() == 0 && header_.features.is_of_folder)
      return fail(ErrorCode::kUnsupported,
                  "{}: it is of a folder of 'perf record --threads', whose other files have the "
                  "samples; ringside does not read them: give the text of 'perf script -i FOLDER'",
                  input_.name);
    if (samples_.samples() == 0)
      return fail(ErrorCode::kFormat, "{}: no sample in {} bytes of records{}", input_.name,
                  header_.records.size(), faults_.count() == 0 ? "" : "; " + faults_.first());
    Imported result;
    result.records = samples_.samples();
    for (const std::string& warning : header_.warnings)
      result.warnings.push_back(input_.name + ": " + warning);
    for (const std::string& warning : samples_.warnings())
      result.warnings.push_back(input_.name + ": " + warning);
    if (faults_.count() != 0) result.warnings.push_back(faults_.sentence(input_.name, "records"));
    for (const std::string& warning : result.warnings)
      RINGSIDE_TRY(samples_.writer()->add_warning(warning));
    return result;
  }

  Result<void> record(const RawRecord& record) override {
    if (record.type >= kFirstOwnType) return own_record(record);
    std::optional<std::uint64_t> time;
    switch (static_cast<RecordType>(record.type)) {
      case RecordType::kSample:
        time = header_.attributes.time_of_sample(record.body);
        break;
      case RecordType::kMmap:
      case RecordType::kMmap2:
      case RecordType::kComm:
      case RecordType::kFork:
      case RecordType::kKsymbol:
      case RecordType::kCgroup:
      case RecordType::kLost:
      case RecordType::kLostSamples:
        time = header_.attributes.trailer_of(record.body).time;
        break;
      default:
        return {};
    }
    // perf has made records without time itself, before it began.
    constexpr std::uint64_t kNever = ~std::uint64_t{0};
    if (!time || *time == 0 || *time == kNever) return samples_.take(record, offset_of(record));
    return order_.add(*time, record);
  }

  void progress(std::uint64_t offset) override {
    if (offset - released_ < kReleaseEvery || !input_.release) return;
    released_ = offset;
    input_.release();
  }

 private:
  Result<void> own_record(const RawRecord& record) {
    ByteCursor cursor(record.body);
    switch (static_cast<RecordType>(record.type)) {
      case RecordType::kFinishedRound:
        return order_.finish_round();
      case RecordType::kHeaderAttr:
        add_attribute(record);
        break;
      case RecordType::kEventUpdate:
        update_event(record);
        break;
      case RecordType::kBuildId:
        read_build_id(record.misc, record.body, header_.features);
        break;
      case RecordType::kFeature: {
        const auto id = cursor.read<std::uint64_t>();
        if (!cursor.failed() && id < 256)
          read_feature(static_cast<std::uint32_t>(id), cursor.read_bytes(cursor.remaining()),
                       header_.features, header_.attributes);
        break;
      }
      default:
        break;
    }
    return {};
  }

  void add_attribute(const RawRecord& record) {
    auto attribute = read_attribute(record.body);
    if (!attribute) return faults_.add(offset_of(record).value_or(0), attribute.error().message);
    ByteCursor cursor(record.body, size_of_attribute(record.body));
    std::vector<std::uint64_t> ids;
    while (cursor.remaining() >= 8) ids.push_back(cursor.read<std::uint64_t>());
    header_.attributes.add(std::move(*attribute), ids);
  }

  void update_event(const RawRecord& record) {
    constexpr std::uint64_t kName = 2;
    ByteCursor cursor(record.body);
    const auto kind = cursor.read<std::uint64_t>();
    const auto id = cursor.read<std::uint64_t>();
    const Bytes rest = cursor.read_bytes(cursor.remaining());
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
    if (kind == kName)
      header_.attributes.set_name(id, std::string(text.substr(0, text.find('\0'))));
  }

  // In the file; nothing where it was compressed.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(const RawRecord& record) const {
    if (record.chunk != Chunks::kFile) return std::nullopt;
    return static_cast<std::uint64_t>(record.body.data() - input_.bytes.data()) - 8;
  }

  const Input& input_;
  FileHeader header_;
  ImageFiles files_;
  Faults faults_;
  SampleImport samples_;
  Chunks chunks_;
  TimeOrder order_{chunks_, [this](const RawRecord& record) {
                     return samples_.take(record, offset_of(record));
                   }};
  std::uint64_t released_ = 0;
};

}  // namespace
}  // namespace perf_data

Likeness perf_data_likeness(const Input& input, const ImportOptions&) {
  return perf_data::form_of(input.bytes) == perf_data::Form::kNone ? Likeness::kNone
                                                                   : Likeness::kCertain;
}

Result<Imported> import_perf_data(std::span<const Input> inputs, const ImportOptions& options,
                                  Target& target) {
  if (inputs.empty()) return fail(ErrorCode::kUsage, "no perf.data was given");
  const Input& input = inputs.front();
  auto header = perf_data::read_file_header(input.bytes);
  if (!header) return fail(header.error().code, "{}: {}", input.name, header.error().message);
  return perf_data::Import(input, std::move(*header), options, target).run();
}

}  // namespace ringside::importers
