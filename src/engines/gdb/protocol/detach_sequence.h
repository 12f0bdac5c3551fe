#pragma once

#include "engines/guardian.h"

namespace ringside::engines::gdb {

// One interrupt and one detach. That is hard to get right because the bytes before it are unknown:
// the guest may run, stand, or the stub may wait for the rest of a packet. "+\x03#00$D;1#b0" does
// it for QEMU 7.2 to 10 (gdbstub.c, gdb_read_byte). '+' acknowledges a reply that nobody read:
// until then all bytes before a '$' are ignored, which would leave the '$' to stop a running guest.
// Else the first byte stops a running guest, and the others before '$' are ignored, as on a stopped
// guest; inside a packet "#00" ends it with a wrong checksum. Then the detach resumes.
extern const DetachSequence kDetachSequence;

}  // namespace ringside::engines::gdb
