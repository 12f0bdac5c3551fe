#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "annotation/annotated_function.h"
#include "annotation/code_source.h"
#include "annotation/disassembler.h"
#include "annotation/function_choice.h"
#include "annotation/source_files.h"

namespace ringside::annotation {

// Puts the samples of functions to their instructions and source lines.
class Annotator {
 public:
  // All but the names of `library_names`, which are copied, must outlive it. Names of functions go
  // to `strings`.
  Annotator(CodeSource& code, SourceFiles& sources, const profile::StringTable& names,
            profile::StringTable& strings, std::vector<std::string> library_names, Syntax syntax)
      : code_(code),
        sources_(sources),
        names_(names),
        strings_(strings),
        library_names_(std::move(library_names)),
        syntax_(syntax) {}

  // Code beyond 256 KiB of a function is not shown; a note says so.
  [[nodiscard]] AnnotatedFunction annotate(const SampledFunction& function);

 private:
  struct Work;  // on one function
  void find_symbol(Work& work);
  void add_code(Work& work);
  void add_outer(Work& work);
  // Whether the inlined function is found at any of its samples.
  enum class Inlined : std::uint8_t { kNone, kOthers, kFound };
  [[nodiscard]] Inlined find_inlined(const Work& work);
  void add_range(Work& work);
  void add_sampled(Work& work);
  void add_instruction(Work& work, const Instruction& instruction, Bytes code);
  void set_target(Work& work, const Instruction& instruction, AnnotatedInstruction& shown);
  void add_samples(Work& work);
  void mark_targets(AnnotatedFunction& made) const;
  void note_unread(Work& work);
  [[nodiscard]] std::uint32_t line_of(Work& work, const std::string& file, std::uint32_t line);
  // Null, with a note, where instructions cannot be shown as text.
  [[nodiscard]] Disassembler* disassembler(Arch arch, AnnotatedFunction& made);
  void name(const Leaf& leaf, GuestVirt address);

  CodeSource& code_;
  SourceFiles& sources_;
  const profile::StringTable& names_;
  profile::StringTable& strings_;
  std::vector<std::string> library_names_;
  Syntax syntax_;
  std::optional<Result<LlvmLibrary>> library_;
  std::map<Arch, Result<Disassembler>> disassemblers_;
  profile::NamedFrame named_;  // reused
};

}  // namespace ringside::annotation
