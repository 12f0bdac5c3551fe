#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "annotation/leaf_sums.h"
#include "base/types.h"
#include "profile/string_table.h"
#include "recording/records.h"

namespace ringside::annotation {

// A line of the source with the samples of its instructions.
struct AnnotatedLine {
  profile::StringId file = 0;  // as debug information has it; 0: not known
  std::uint32_t line = 0;
  std::string text;  // without indentation; empty where the source is not there
  Sum sum;
};

// Where a jump or a call leads to.
struct JumpTarget {
  GuestVirt address;
  bool is_inside = false;      // a jump within the function
  profile::StringId name = 0;  // of another function; 0: not known
  std::uint64_t offset = 0;    // in that, in bytes
};

struct AnnotatedInstruction {
  GuestVirt address;
  std::vector<std::byte> bytes;  // none: the code is not there
  std::string text;              // empty: it could not be disassembled
  std::optional<JumpTarget> target;
  bool is_target = false;  // a jump of this function leads here
  std::uint32_t line = 0;  // in AnnotatedFunction::lines
  // Functions that the instruction was inlined from, outermost first.
  std::vector<profile::StringId> inlined;
  Sum sum;
};

// A function with its samples by instruction and by line. Samples of both are those of the
// function: sum = all lines = all instructions + outside.
struct AnnotatedFunction {
  std::string name;             // as reports have it
  std::string inlined;          // the function in it that alone is shown; empty: all is
  std::string image;            // its name; may be empty
  std::string build_id;         // hexadecimal; may be empty
  GuestVirt start;              // in the guest
  std::uint64_t size = 0;       // bytes; 0: not known
  std::uint64_t load_bias = 0;  // that the image was recorded with
  Sum sum;
  Sum outside;                                     // of addresses that no shown instruction has
  std::vector<AnnotatedLine> lines;                // [0]: of code without a line
  std::vector<AnnotatedInstruction> instructions;  // by address
  std::vector<std::string> notes;                  // sentences on what is missing
};

// The result of `annotate`. Its functions are made one by one, for each may have a million
// instructions.
struct Annotation {
  std::string input;  // the file's name
  recording::WeightUnit unit = recording::WeightUnit::kTicks;
  Sum total;
  std::uint64_t extent = 0;      // of `total`: what shares of all samples are shares of
  profile::StringTable strings;  // of files and functions that lines and instructions name
  std::size_t functions = 0;     // how many are shown
  std::size_t left_out = 0;      // functions beyond the limit …
  Sum left_out_sum;              // … and their samples
  std::function<AnnotatedFunction(std::size_t)> function;  // by number, the heaviest first
};

}  // namespace ringside::annotation
