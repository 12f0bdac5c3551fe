#pragma once

#include "engines/guardian.h"

namespace ringside::engines::qmp {

// A continue, through the monitor that ringside was connected to, which has no second client. Half
// a request may have been sent: 0xff is in no JSON text, and QEMU's parser drops what it has
// (docs/interop/qmp-spec, "Protocol Specification"; qobject/json-lexer.c).
extern const DetachSequence kDetachSequence;

}  // namespace ringside::engines::qmp
