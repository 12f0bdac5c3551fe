#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.h"

// The one place that says how names of frames are sanitized in every output.
namespace ringside::profile {

inline constexpr std::string_view kFirmwareName = "[firmware]";
inline constexpr std::string_view kUserName = "[user]";
inline constexpr std::string_view kGuestName = "[guest]";  // of the kernel as a hypervisor
inline constexpr std::string_view kIdleName = "[idle]";
inline constexpr std::string_view kNobodyName = "[unknown]";    // of no process, or in no image
inline constexpr std::string_view kInterruptName = "[irq]";     // interrupts that are not joined
inline constexpr std::string_view kNoStackName = "[no stack]";  // sampled, and no frame found
inline constexpr std::string_view kLostStackName = "[lost stack]";  // stood in a damaged block
inline constexpr std::string_view kTruncatedName = "[truncated]";
inline constexpr std::string_view kUnknownPlace = "??:0";  // in the source, as perf has it

// "<unknown:0xffffffff81000000>"
[[nodiscard]] std::string unknown_name(GuestVirt address);

// A thread whose name is not known, as perf has it: ":123".
[[nodiscard]] std::string unnamed_thread(std::uint32_t tid);

// A name that fits every text format: a printable line (base/text.h) in which `;` became `:`; an
// empty name becomes "[empty name]".
[[nodiscard]] std::string sanitize(std::string_view name);

// A place in the source as perf has it: "file.c:12", the file without its folder.
[[nodiscard]] std::string source_place(std::string_view file, std::uint32_t line);
// With --show-lines: "name file.c:12", as perf's call graphs do with "srcline".
[[nodiscard]] std::string with_line(std::string_view name, std::string_view file,
                                    std::uint32_t line);

// With --show-addresses: "name [0xADDRESS]".
[[nodiscard]] std::string with_address(std::string_view name, GuestVirt address);

}  // namespace ringside::profile
