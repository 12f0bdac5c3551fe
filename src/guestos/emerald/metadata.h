#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::guestos::emerald {

// The page that each process has at this address, readable in both modes (Emerald,
// libraries/kernel_user_link/src/process.rs, commit 3c21857e).
inline constexpr GuestVirt kMetadataPage{0xffff'ff7f'ffff'e000};
inline constexpr std::size_t kMetadataSize = 9 * 8;
inline constexpr std::size_t kEmeraldSize = 8 * 8;  // without the field that is ours

// Where `user_registers` is in the page.
inline constexpr std::uint64_t kUserRegistersField = 8 * 8;

// Contents of the page. Addresses are the process's.
struct Metadata {
  std::uint64_t pid = 0;
  GuestVirt image_base;
  std::uint64_t image_size = 0;
  std::uint64_t program_headers_offset = 0;  // from image_base
  GuestVirt eh_frame;                        // 0: there is none
  std::uint64_t eh_frame_size = 0;
  GuestVirt text;
  std::uint64_t text_size = 0;
  // Not Emerald's (docs/adding-a-guest-os.md): where the kernel saves the user's registers. 0: it
  // does not report. No part of what a process is.
  GuestVirt user_registers;

  // Identity of a process: distinguishes those that have the same page tables one after the other.
  [[nodiscard]] auto identity() const {
    return std::tuple(pid, image_base, image_size, program_headers_offset, eh_frame, eh_frame_size,
                      text, text_size);
  }
};

// The page's fields, if they can be a process's: a pid of 32 bits; an image in the lower half of
// the address space, of at most 1 GiB; .text inside of it, and .eh_frame too where there is one.
// Nothing for anything else, and for fewer bytes than Emerald's fields have.
[[nodiscard]] std::optional<Metadata> parse_metadata(Bytes page);

}  // namespace ringside::guestos::emerald
