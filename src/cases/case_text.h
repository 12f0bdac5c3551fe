#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cases/expected.h"
#include "wire/capture.h"

namespace ringside::cases {

// A test case of the unwinder as text. Its first line is "unwind-case 1", in which 1 is the
// version of the format; sections follow, each with its name in brackets on a line of its own:
//
//     [images]        "image NAME FILE LOAD-BIAS", "entries FILE"
//     [registers]     capture_text.h
//     [memory]        memory_text.h
//     [expected]      expected.h
//     [entered-from]  "NAME VALUE"; this section may be missing
struct CaseText {
  struct Image {
    std::string name;
    std::string file;  // relative to the case's folder
    std::uint64_t load_bias = 0;
  };
  std::vector<Image> images;
  std::string entries;  // a file as `Image::file`, of entry_text.h; empty: none
  wire::Capture capture;
  ExpectedStack expected;
  // Where the guest went when it was let run on: registers, or "user" 1 for user mode. The tools
  // that confirm stacks read it (tests/unwind-cases/tools/confirm.py).
  std::vector<std::pair<std::string, std::uint64_t>> entered_from;
};

// The inverse of parse_case().
[[nodiscard]] std::string case_text(const CaseText& parts);
// Error kFormat names `name` and the line, kUnsupported another version of the format.
[[nodiscard]] Result<CaseText> parse_case(std::string_view text, const std::string& name);

}  // namespace ringside::cases
