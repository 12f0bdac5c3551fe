#include "cli/verbs/script_fields.h"

#include <gtest/gtest.h>

namespace ringside::cli {
namespace {

using exporters::kUsualScriptFields;
using exporters::ScriptField;
using exporters::ScriptFields;

TEST(ScriptFields, AreTheUsualOnesAllOrChanges) {
  EXPECT_EQ(read_script_fields({}).value(), kUsualScriptFields);
  EXPECT_EQ(read_script_fields({"comm,ip,sym"}).value(),
            (ScriptFields{ScriptField::kComm, ScriptField::kIp, ScriptField::kSym}));
  ScriptFields changed = kUsualScriptFields;
  changed.set(ScriptField::kPid, true);
  changed.set(ScriptField::kPeriod, false);
  EXPECT_EQ(read_script_fields({"+pid,-period"}).value(), changed);
  EXPECT_EQ(read_script_fields({"+pid", "-period"}).value(), changed);
  EXPECT_EQ(read_script_fields({"comm,tid", "-tid"}).value(), ScriptFields{ScriptField::kComm});
}

TEST(ScriptFields, OnesBehindAnotherGoWithIt) {
  const ScriptFields heads = read_script_fields({"-ip"}).value();
  for (const ScriptField field :
       {ScriptField::kIp, ScriptField::kSym, ScriptField::kSymOffset, ScriptField::kDso})
    EXPECT_FALSE(heads.has(field));
  EXPECT_FALSE(read_script_fields({"-sym"}).value().has(ScriptField::kSymOffset));
  EXPECT_TRUE(read_script_fields({"-sym"}).value().has(ScriptField::kDso));
}

TEST(ScriptFields, WrongOnesAreWrongUsage) {
  for (const char* text : {"weight", "comm,+ip", "+ip,comm", "comm,sym", "ip,symoff", "+", "COMM"})
    EXPECT_EQ(read_script_fields({text}).error().code, ErrorCode::kUsage) << text;
  EXPECT_NE(read_script_fields({"weight"}).error().message.find(script_field_names()),
            std::string::npos);
}

}  // namespace
}  // namespace ringside::cli
