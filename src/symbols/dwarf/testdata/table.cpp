#include "symbols/dwarf/testdata/table.h"

long DBG_ID_MAP_OF_OTHERS;

namespace kernel::profiling {
RwLock<RawTable<Entry, Global>> DBG_ID_MAP;
}
