#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "guestos/process_updates.h"
#include "guestos/program_files.h"
#include "symbols/debug_files.h"

namespace ringside::guestos {

enum class GuestOs { kAuto, kGeneric, kLinux, kEmerald };

// Where all adapters of a recording take the ids of address spaces from, so that none is given
// twice when one adapter follows another. For the thread that samples.
class AddressSpaceIds {
 public:
  [[nodiscard]] std::uint64_t next() { return ++last_; }

 private:
  std::uint64_t last_ = 0;
};

// The program of the address space that has its page tables at `root`.
struct RootProgram {
  std::uint64_t root = 0;  // physical, as user_root() gives it
  std::shared_ptr<const UserImage> program;
};

// The guest's system as the user's options describe it.
struct AdapterOptions {
  GuestOs os = GuestOs::kAuto;
  std::shared_ptr<ProgramFiles> programs;         // --programs; null: none given
  std::vector<RootProgram> processes;             // --process
  std::shared_ptr<const UserImage> user_program;  // --user-elf; null: none given
  std::filesystem::path sysroot;                  // --sysroot; empty: none given
  std::filesystem::path initramfs;                // the guest's; empty: none known
  // The engine's captures lie in a ring before they are examined, while the guest goes on: they
  // are to say more by themselves.
  bool asynchronous = false;
  symbols::DebugFileOptions debug_files;  // where a kernel's debug information may be
  std::shared_ptr<AddressSpaceIds> address_space_ids = std::make_shared<AddressSpaceIds>();
};

}  // namespace ringside::guestos
