#include "annotation/annotator.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "profile/sanitize.h"

namespace ringside::annotation {
namespace {

constexpr std::uint64_t kMostCode = 256 << 10;  // bytes; the longest functions of Linux have 60,000
constexpr std::size_t kMostTexts = 20'000;      // lines of a function that have their text
constexpr std::size_t kLongestInstruction = 16;

FrameKind kind_of(profile::Kind kind) {
  return kind == profile::Kind::kUnknown ? FrameKind::kCode : static_cast<FrameKind>(kind);
}

void add_note(AnnotatedFunction& made, std::string note) {
  if (std::find(made.notes.begin(), made.notes.end(), note) == made.notes.end())
    made.notes.push_back(std::move(note));
}

}  // namespace

struct Annotator::Work {
  const SampledFunction& function;
  AnnotatedFunction made;
  std::map<std::pair<profile::StringId, std::uint32_t>, std::uint32_t> lines;  // in made.lines
  std::set<profile::StringId> unread;                                          // source files
  bool is_whole;  // all instructions are shown, not only those of the inlined function

  [[nodiscard]] const Leaf& front() const { return function.front(); }
  // Where an address of another leaf of the same function is in the first one's mapping.
  [[nodiscard]] GuestVirt moved(const Leaf& leaf) const {
    return leaf.symbol.size == 0 ? leaf.address : made.start + (leaf.address - leaf.symbol.start);
  }
};

AnnotatedFunction Annotator::annotate(const SampledFunction& function) {
  const Leaf& leaf = function.front();
  Work work{function, {}, {}, {}, function.inlined == 0};
  AnnotatedFunction& made = work.made;
  made.name = names_[leaf.functions.front()];
  if (function.inlined != 0) made.inlined = names_[function.inlined];
  if (leaf.image != nullptr) {
    made.image = printable_line(leaf.image->name);
    made.build_id = hex_text(leaf.image->build_id);
    made.load_bias = leaf.image->load_bias;
  }
  made.start = leaf.symbol.size == 0 ? GuestVirt{} : leaf.symbol.start;
  made.size = leaf.symbol.size;
  if (made.size == 0) find_symbol(work);
  made.sum = function.sum;
  made.lines.emplace_back();
  add_code(work);
  add_samples(work);
  mark_targets(made);
  note_unread(work);
  return std::move(work.made);
}

void Annotator::add_code(Work& work) {
  if (work.made.size != 0) add_range(work);
  if (work.made.instructions.empty() && !work.is_whole) add_outer(work);
  if (work.made.instructions.empty()) add_sampled(work);
}

// All of the function that the inlined one is in, where nothing tells whose each instruction is.
void Annotator::add_outer(Work& work) {
  const Inlined found = find_inlined(work);
  if (found == Inlined::kFound) return;
  work.is_whole = true;
  const char* const why = found == Inlined::kOthers
                              ? "the debug information has other names there, so nothing"
                              : "no debug information is here that";
  add_note(work.made,
           fmt::format("{} is inlined there: {} tells its instructions from others of {}",
                       work.made.inlined, why, work.made.name));
  if (work.made.size != 0) add_range(work);
}

Annotator::Inlined Annotator::find_inlined(const Work& work) {
  Inlined found = Inlined::kNone;
  for (const Leaf* leaf : work.function.leaves) {
    name(*leaf, leaf->address);
    if (std::any_of(named_.functions.begin(), named_.functions.end(), [&](const auto& function) {
          return profile::sanitize(function) == work.made.inlined;
        }))
      return Inlined::kFound;
    if (named_.functions.size() > 1) found = Inlined::kOthers;
  }
  return found;
}

void Annotator::name(const Leaf& leaf, GuestVirt address) {
  named_.functions.clear();
  named_.lines.clear();
  named_.size = 0;
  recording::RecordedFrame frame;
  frame.address = address;
  frame.exact = true;
  frame.kind = kind_of(leaf.kind);
  frame.image = leaf.image == nullptr ? 0 : leaf.image->id;
  code_.name({frame, leaf.image, nullptr}, named_);
}

// The input has names of its own: where its image's file has a function of that name at all
// samples, that is it.
void Annotator::find_symbol(Work& work) {
  name(work.front(), work.front().address);
  if (named_.size == 0 || profile::sanitize(named_.functions.front()) != work.made.name) return;
  const auto& leaves = work.function.leaves;
  if (std::any_of(leaves.begin(), leaves.end(),
                  [&](const Leaf* leaf) { return leaf->address - named_.start >= named_.size; }))
    return;
  work.made.start = named_.start;
  work.made.size = named_.size;
}

// All of the function from its symbol's start to its end.
void Annotator::add_range(Work& work) {
  AnnotatedFunction& made = work.made;
  recording::RecordedFrame frame;
  frame.address = made.start;
  frame.exact = true;
  frame.kind = kind_of(work.front().kind);
  const Code code = code_.code_at({frame, work.front().image, nullptr},
                                  static_cast<std::size_t>(std::min(made.size, kMostCode)));
  if (code.bytes.empty()) return;
  if (made.size > kMostCode)
    add_note(made, fmt::format("only the first {} of the function's {} bytes are shown", kMostCode,
                               made.size));
  Disassembler* const disassembler = this->disassembler(code.arch, made);
  if (disassembler == nullptr) return;
  for (std::size_t at = 0; at < code.bytes.size();) {
    const Bytes rest = code.bytes.subspan(at);
    const Instruction instruction = disassembler->first(rest, made.start.value + at);
    add_instruction(work, instruction, rest.first(instruction.size));
    at += instruction.size;
  }
}

// Where there is no code, or nothing shows where the function begins: what samples stand at.
void Annotator::add_sampled(Work& work) {
  AnnotatedFunction& made = work.made;
  std::map<GuestVirt, const Leaf*> addresses;
  for (const Leaf* const leaf : work.function.leaves) addresses[work.moved(*leaf)] = leaf;
  bool has_code = false;
  for (const auto& [address, leaf] : addresses) {
    recording::RecordedFrame frame;
    frame.address = address;
    frame.exact = true;
    frame.kind = kind_of(leaf->kind);
    const Code code = code_.code_at({frame, work.front().image, nullptr}, kLongestInstruction);
    has_code |= !code.bytes.empty();
    Disassembler* const disassembler =
        code.bytes.empty() ? nullptr : this->disassembler(code.arch, made);
    if (disassembler != nullptr) {
      const Instruction instruction = disassembler->first(code.bytes, address.value);
      add_instruction(work, instruction, code.bytes.first(instruction.size));
      continue;
    }
    AnnotatedInstruction& shown = made.instructions.emplace_back();
    shown.address = address;
    if (leaf->place.line != 0)
      shown.line = line_of(work, std::string(names_[leaf->place.file]), leaf->place.line);
    for (std::size_t i = 1; i < leaf->functions.size(); ++i)
      shown.inlined.push_back(strings_.intern(names_[leaf->functions[i]]));
  }
  if (!has_code)
    add_note(
        made,
        fmt::format("the code of {} is not there, so only addresses with samples are "
                    "shown{}",
                    made.image.empty() ? std::string_view("the function") : made.image,
                    is_kernel(work.front().kind) ? "; give the kernel's ELF file with --kernel"
                    : work.front().kind == profile::Kind::kUser
                        ? "; its file has to be here as it ran, or to be named to record --programs"
                        : ""));
}

void Annotator::add_instruction(Work& work, const Instruction& instruction, Bytes code) {
  const Leaf& leaf = work.front();
  const GuestVirt address{instruction.address};
  name(leaf, address);
  AnnotatedInstruction shown;
  shown.address = address;
  shown.bytes.assign(code.begin(), code.end());
  shown.text = instruction.text;
  bool is_wanted = work.is_whole;
  for (std::size_t i = 1; i < named_.functions.size(); ++i) {
    const std::string function = profile::sanitize(named_.functions[i]);
    is_wanted |= function == work.made.inlined;
    shown.inlined.push_back(strings_.intern(function));
  }
  if (!is_wanted) return;
  if (!named_.lines.empty() && named_.lines.back().line != 0)
    shown.line = line_of(work, named_.lines.back().file, named_.lines.back().line);
  set_target(work, instruction, shown);
  work.made.instructions.push_back(std::move(shown));
}

void Annotator::set_target(Work& work, const Instruction& instruction,
                           AnnotatedInstruction& shown) {
  if (!instruction.target) return;
  JumpTarget target;
  target.address = GuestVirt{*instruction.target};
  target.is_inside = !instruction.is_call && target.address - work.made.start < work.made.size;
  if (!target.is_inside) {
    name(work.front(), target.address);
    if (!named_.functions.empty() && named_.size != 0) {
      target.name = strings_.intern(profile::sanitize(named_.functions.front()));
      target.offset = target.address - named_.start;
    }
  }
  shown.target = target;
}

std::uint32_t Annotator::line_of(Work& work, const std::string& file, std::uint32_t line) {
  const profile::StringId name = strings_.intern(printable_line(file));
  const auto [entry, added] =
      work.lines.try_emplace({name, line}, static_cast<std::uint32_t>(work.made.lines.size()));
  if (!added) return entry->second;
  AnnotatedLine& made = work.made.lines.emplace_back();
  made.file = name;
  made.line = line;
  if (work.made.lines.size() > kMostTexts) return entry->second;
  auto text = sources_.line(file, line);
  if (!text) work.unread.insert(name);
  made.text = std::move(text).value_or("");
  return entry->second;
}

void Annotator::note_unread(Work& work) {
  if (work.unread.empty()) return;
  const std::size_t others = work.unread.size() - 1;
  add_note(work.made,
           fmt::format("the text of {}{} is not shown: sources are read below the working folder, "
                       "the given kernel's and --source alone; give their folder with "
                       "--source FOLDER",
                       strings_[*work.unread.begin()],
                       others == 0   ? std::string()
                       : others == 1 ? " and 1 other file"
                                     : fmt::format(" and {} other files", others)));
}

void Annotator::add_samples(Work& work) {
  auto& instructions = work.made.instructions;
  for (const Leaf* const leaf : work.function.leaves) {
    const GuestVirt address = work.moved(*leaf);
    const auto after = std::upper_bound(
        instructions.begin(), instructions.end(), address,
        [](GuestVirt at, const AnnotatedInstruction& shown) { return at < shown.address; });
    AnnotatedInstruction* const shown =
        after == instructions.begin() ? nullptr : &*std::prev(after);
    const bool is_there = shown != nullptr &&
                          address - shown->address < std::max<std::size_t>(1, shown->bytes.size());
    (is_there ? shown->sum : work.made.outside).add(leaf->sum);
    work.made.lines[is_there ? shown->line : 0].sum.add(leaf->sum);
  }
}

void Annotator::mark_targets(AnnotatedFunction& made) const {
  std::set<GuestVirt> targets;
  for (const AnnotatedInstruction& shown : made.instructions)
    if (shown.target && shown.target->is_inside) targets.insert(shown.target->address);
  for (AnnotatedInstruction& shown : made.instructions)
    shown.is_target = targets.count(shown.address) != 0;
}

Disassembler* Annotator::disassembler(Arch arch, AnnotatedFunction& made) {
  if (!library_) library_ = LlvmLibrary::open(library_names_);
  if (!*library_) {
    add_note(made, library_->error().message);
    return nullptr;
  }
  auto found = disassemblers_.find(arch);
  if (found == disassemblers_.end())
    found = disassemblers_.emplace(arch, Disassembler::create(**library_, arch, syntax_)).first;
  if (found->second) return &*found->second;
  add_note(made, found->second.error().message);
  return nullptr;
}

}  // namespace ringside::annotation
