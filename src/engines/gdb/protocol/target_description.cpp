#include "engines/gdb/protocol/target_description.h"

#include <algorithm>
#include <pugixml.hpp>

#include "arch/arch_info.h"

namespace ringside::engines::gdb {
namespace {

constexpr int kMaxDepth = 8;
constexpr int kMaxDocuments = 64;
constexpr std::size_t kMaxRegisters = 4096;
constexpr std::uint32_t kMaxBits = 16384;  // SVE's z registers have 2048

Arch arch_of(std::string_view name) {
  for (const arch::ArchInfo* info : arch::architectures())
    if (name.starts_with(info->gdb_name)) return info->id;
  return Arch::kUnknown;
}

class Parser {
 public:
  explicit Parser(const FetchAnnex& fetch) : fetch_(fetch) {}

  Result<void> parse(std::string_view text, const std::string& name, int depth) {
    if (depth > kMaxDepth || ++documents_ > kMaxDocuments)
      return fail(ErrorCode::kFormat, "target description: {} is included too deep or too often",
                  name);
    pugi::xml_document document;
    const auto parsed = document.load_buffer(text.data(), text.size());
    if (!parsed)
      return fail(ErrorCode::kFormat, "target description: {} is not XML at offset {}: {}", name,
                  parsed.offset, parsed.description());
    return walk(document, depth);
  }

  Result<TargetDescription> finish() {
    auto& registers = description_.registers;
    std::stable_sort(registers.begin(), registers.end(),
                     [](const auto& a, const auto& b) { return a.number < b.number; });
    const auto twice =
        std::adjacent_find(registers.begin(), registers.end(),
                           [](const auto& a, const auto& b) { return a.number == b.number; });
    if (twice != registers.end())
      return fail(ErrorCode::kFormat, "target description: register number {} is given twice",
                  twice->number);
    return std::move(description_);
  }

 private:
  // Includes may stand under <target> (QEMU) or instead of it; a document's root may be <target>
  // or <feature>.
  Result<void> walk(const pugi::xml_node& parent, int depth) {
    for (const pugi::xml_node& node : parent.children()) {
      const std::string_view name = node.name();
      if (name == "architecture") {
        description_.architecture = node.text().get();
        description_.arch = arch_of(description_.architecture);
      } else if (name == "reg") {
        RINGSIDE_TRY(add(node));
      } else if (name == "xi:include") {
        const std::string annex = node.attribute("href").value();
        RINGSIDE_ASSIGN(const std::string text, fetch_(annex));
        RINGSIDE_TRY(parse(text, annex, depth + 1));
      } else if (name == "target" || name == "feature") {
        // Deeper than <target><feature> is nothing that we read, so this recursion is shallow in
        // every valid description; the depth bounds it in the others.
        if (depth > 2 * kMaxDepth)
          return fail(ErrorCode::kFormat, "target description: elements are nested too deep");
        RINGSIDE_TRY(walk(node, depth + 1));
      }
    }
    return {};
  }

  Result<void> add(const pugi::xml_node& node) {
    // "If omitted, the register's number is one greater than that of the previous register."
    const std::uint32_t number = node.attribute("regnum").as_uint(next_number_);
    const std::uint32_t bits = node.attribute("bitsize").as_uint(0);
    if (bits == 0 || bits > kMaxBits || number > kMaxRegisters)
      return fail(ErrorCode::kFormat, "target description: register '{}' has number {} and {} bits",
                  node.attribute("name").value(), number, bits);
    next_number_ = number + 1;
    description_.registers.push_back({node.attribute("name").value(), number, bits});
    return {};
  }

  const FetchAnnex& fetch_;
  TargetDescription description_;
  std::uint32_t next_number_ = 0;
  int documents_ = 0;
};

}  // namespace

Result<TargetDescription> parse_target_description(std::string_view target_xml,
                                                   const FetchAnnex& fetch) {
  Parser parser(fetch);
  RINGSIDE_TRY(parser.parse(target_xml, "target.xml", 0));
  return parser.finish();
}

}  // namespace ringside::engines::gdb
