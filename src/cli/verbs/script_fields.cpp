#include "cli/verbs/script_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/split.h"

namespace ringside::cli {
namespace {

using exporters::ScriptField;
using exporters::ScriptFields;

struct Field {
  std::string_view name;
  ScriptField field;
};
constexpr std::array kFields = {
    Field{"comm", ScriptField::kComm},   Field{"pid", ScriptField::kPid},
    Field{"tid", ScriptField::kTid},     Field{"time", ScriptField::kTime},
    Field{"cpu", ScriptField::kCpu},     Field{"period", ScriptField::kPeriod},
    Field{"event", ScriptField::kEvent}, Field{"ip", ScriptField::kIp},
    Field{"sym", ScriptField::kSym},     Field{"symoff", ScriptField::kSymOffset},
    Field{"dso", ScriptField::kDso},     Field{"srcline", ScriptField::kSourceLine}};

bool has_sign(std::string_view word) { return word.starts_with('+') || word.starts_with('-'); }

// Fields that stand behind that one have no place without it.
void leave_out(ScriptField field, ScriptFields& fields) {
  fields.set(field, false);
  if (field == ScriptField::kIp)
    for (const ScriptField behind :
         {ScriptField::kSym, ScriptField::kDso, ScriptField::kSourceLine})
      fields.set(behind, false);
  if (!fields.has(ScriptField::kSym)) fields.set(ScriptField::kSymOffset, false);
}

Result<void> add_word(std::string_view word, ScriptFields& fields) {
  const std::string_view name = has_sign(word) ? word.substr(1) : word;
  const auto* const found = std::find_if(kFields.begin(), kFields.end(),
                                         [&](const Field& field) { return field.name == name; });
  if (found == kFields.end())
    return fail(ErrorCode::kUsage,
                "-F {}: give some of {}; +NAME adds one to the usual, -NAME "
                "leaves one out",
                name, script_field_names());
  if (word.starts_with('-'))
    leave_out(found->field, fields);
  else
    fields.set(found->field, true);
  return {};
}

Result<void> add_text(std::string_view text, ScriptFields& fields) {
  const bool is_change = has_sign(text);
  if (!is_change) fields = ScriptFields{};
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = take_word(rest, ",");
    if (word.empty()) continue;
    if (has_sign(word) != is_change)
      return fail(ErrorCode::kUsage,
                  "-F {}: give either all fields, or each one with + or - before it", text);
    RINGSIDE_TRY(add_word(word, fields));
  }
  return {};
}

Result<void> check_needs(const ScriptFields& fields) {
  if (std::none_of(kFields.begin(), kFields.end(),
                   [&](const Field& each) { return fields.has(each.field); }))
    return fail(ErrorCode::kUsage, "-F: no field is left; there are {}", script_field_names());
  const auto has = [&](ScriptField field) { return fields.has(field); };
  if (has(ScriptField::kSymOffset) && !has(ScriptField::kSym))
    return fail(ErrorCode::kUsage, "-F: symoff stands behind a function's name: add sym");
  if (has(ScriptField::kIp)) return {};
  for (const ScriptField field : {ScriptField::kSym, ScriptField::kDso, ScriptField::kSourceLine})
    if (has(field))
      return fail(ErrorCode::kUsage, "-F: sym, dso and srcline stand behind an address: add ip");
  return {};
}

}  // namespace

std::string script_field_names() {
  std::string names;
  for (const Field& field : kFields) names += (names.empty() ? "" : ", ") + std::string(field.name);
  return names;
}

Result<ScriptFields> read_script_fields(const std::vector<std::string>& texts) {
  ScriptFields fields = exporters::kUsualScriptFields;
  for (const std::string& text : texts) RINGSIDE_TRY(add_text(text, fields));
  RINGSIDE_TRY(check_needs(fields));
  return fields;
}

}  // namespace ringside::cli
