#pragma once

#include "core/types.h"

// PCI's configuration space, by ports (PCI Local Bus Specification 3.0, section 3.2.2.3.2).

// The place of the n-th function of bus 0 that is this device; 0: there is none.
u32 find_pci_device(u16 vendor, u16 device, u32 n);
u32 read_pci(u32 place, u8 offset);
void write_pci(u32 place, u8 offset, u32 value);
