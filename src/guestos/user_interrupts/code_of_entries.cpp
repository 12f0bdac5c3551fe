#include "guestos/user_interrupts/code_of_entries.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "guestos/user_interrupts/formed_addresses.h"

namespace ringside::guestos {
namespace {

// Entries lead to their handlers within some tens of instructions. A handler that hardware enters
// itself may be a function of some thousands.
constexpr std::size_t kMostInstructions = 1 << 16;
// Where many entries share much code, it is visited for each.
constexpr std::size_t kMostVisits = 1 << 20;

// Follows the flow of control from all entries at once.
class Flood {
 public:
  struct Reached {
    Flow flow;
    EntrySet before;  // entries that reach it before their first call
    EntrySet after;
    [[nodiscard]] EntrySet all() const { return before | after; }
  };

  Flood(const elf::ElfFile& file, std::span<const ImageAddr> entries)
      : file_(file), flow_(make_code_flow(file.arch())), entries_(entries.begin(), entries.end()) {}

  void add(ImageAddr entry, std::size_t number) {
    EntrySet set;
    set.set(number);
    waiting_.push_back({entry, set, false});
    while (!waiting_.empty() && !is_exhausted()) {
      ++visits_;
      const Step step = waiting_.back();
      waiting_.pop_back();
      visit(step);
    }
  }

  // There is too much code to follow.
  [[nodiscard]] bool is_exhausted() const {
    return reached_.size() >= kMostInstructions || visits_ >= kMostVisits;
  }

  [[nodiscard]] bool leads_anywhere(const EntrySet& entries) const {
    return std::any_of(reached_.begin(), reached_.end(), [&](const auto& each) {
      return each.second.flow.is_indirect && (each.second.before & entries).any();
    });
  }

  // Other ways to `entry` are of no interest.
  void close(ImageAddr entry) { closed_.insert(entry); }

  // Ways into the code from any other: what they lead to is no longer the entries' alone.
  void add_other_ways() {
    std::vector<ImageAddr> targets = std::move(left_for_);
    find_falls(targets);
    find_jumps(targets);
    find_formed(targets);
    for (const ImageAddr target : targets)
      if (reached_.contains(target)) add(target, kMostEntries);
  }

  // The instructions that lead on to the code, other than by leaving an entry's function.
  [[nodiscard]] const std::vector<ImageAddr>& other_ways() const { return other_ways_; }
  [[nodiscard]] const std::map<ImageAddr, Reached>& reached() const { return reached_; }

 private:
  struct Step {
    ImageAddr at;
    EntrySet entries;
    bool is_after = false;  // the first call
  };

  void find_falls(std::vector<ImageAddr>& targets) {
    ImageAddr end;  // of the last instruction
    for (const auto& [at, reached] : reached_) {
      if (const auto before = at != end && !closed_.contains(at) ? falls_into(at) : std::nullopt) {
        other_ways_.push_back(*before);
        targets.push_back(at);
      }
      end = at + reached.flow.size;
    }
  }

  void find_jumps(std::vector<ImageAddr>& targets) {
    const std::size_t step = flow_->alignment();
    for (const elf::CodeRange& code : file_.code())
      for (std::size_t i = 0; i < code.bytes.size(); i += step) {
        const ImageAddr at = code.address + i;
        const auto to = flow_->jump(code.bytes.subspan(i), at);
        if (!to || !reached_.contains(*to) || closed_.contains(*to)) continue;
        if (!is_other_instruction(at)) continue;
        other_ways_.push_back(at);
        targets.push_back(*to);
      }
  }

  // By any instruction: one that an interrupt's code holds may be another entry's, too.
  void find_formed(std::vector<ImageAddr>& targets) const {
    if (reached_.empty()) return;
    const ImageAddr first = reached_.begin()->first;
    const ImageAddr last = reached_.rbegin()->first;
    for (const elf::CodeRange& code : file_.code())
      find_formed_addresses(file_.arch(), code, [&](ImageAddr to) {
        if (to < first || last < to) return;
        if (reached_.contains(to) && !entries_.contains(to)) targets.push_back(to);
      });
  }

  // The instruction before `at` in its function, by its function's instructions in order. Nothing
  // where there is none, or `at` is within one.
  [[nodiscard]] std::optional<ImageAddr> instruction_before(ImageAddr at) const {
    const std::ptrdiff_t number = function_of(at - 1);
    if (number == 0) return std::nullopt;
    ImageAddr now = file_.symbols()[static_cast<std::size_t>(number - 1)].address;
    if (at - now > kLargestFunction) return std::nullopt;
    ImageAddr before = now;
    while (now < at) {
      before = now;
      now = now + flow_->at(file_.bytes_at(now, kLongestInstruction), now).size;
    }
    return now == at && before < at ? std::optional(before) : std::nullopt;
  }

  // Whether an instruction begins there that is not reached.
  [[nodiscard]] bool is_other_instruction(ImageAddr at) const {
    if (reached_.contains(at)) return false;
    const bool begins_function = function_of(at) != function_of(at - 1);
    return begins_function || instruction_before(at).has_value();
  }

  // The instruction that goes on there, before which no other is reached. A call in front of a
  // function may not return.
  [[nodiscard]] std::optional<ImageAddr> falls_into(ImageAddr at) const {
    const auto before = instruction_before(at);
    if (!before) return std::nullopt;
    const Bytes bytes = file_.bytes_at(*before, at - *before);
    const Flow flow = flow_->at(bytes, *before);
    const bool goes_on = flow.goes_on && !flow.is_call && !flow_->is_padding(bytes);
    return goes_on ? before : std::nullopt;
  }

  void visit(const Step& step) {
    auto found = reached_.find(step.at);
    if (found == reached_.end()) {
      const Bytes bytes = file_.bytes_at(step.at, kLongestInstruction);
      if (bytes.empty() || !file_.is_code(step.at)) return;
      found = reached_.emplace(step.at, Reached{flow_->at(bytes, step.at), {}, {}}).first;
    }
    EntrySet& seen = step.is_after ? found->second.after : found->second.before;
    if ((step.entries & ~seen).none()) return;
    seen |= step.entries;
    const Flow& flow = found->second.flow;
    const bool is_after = step.is_after || flow.is_call;
    if (flow.goes_on) go(step, step.at + flow.size, is_after);
    if (flow.jumps_to) go(step, *flow.jumps_to, is_after);
  }

  void go(const Step& from, ImageAddr to, bool is_after) {
    if (is_after && function_of(from.at) != function_of(to)) return left_for_.push_back(to);
    waiting_.push_back({to, from.entries, is_after});
  }

  // By its number; the label before the code is its start.
  [[nodiscard]] std::ptrdiff_t function_of(ImageAddr at) const {
    const auto& symbols = file_.symbols();
    return std::upper_bound(symbols.begin(), symbols.end(), at,
                            [](ImageAddr to, const elf::FunctionSymbol& symbol) {
                              return to < symbol.address;
                            }) -
           symbols.begin();
  }

  const elf::ElfFile& file_;
  std::unique_ptr<CodeFlow> flow_;
  std::map<ImageAddr, Reached> reached_;
  std::set<ImageAddr> entries_;
  std::size_t visits_ = 0;
  std::vector<Step> waiting_;
  std::vector<ImageAddr> left_for_;  // where code goes on that is not followed
  std::vector<ImageAddr> other_ways_;
  std::set<ImageAddr> closed_;
};

}  // namespace

CodeOfEntries::CodeOfEntries(const elf::ElfFile& file, std::span<const ImageAddr> entries,
                             const EntrySet& interrupts) {
  if (file.symbols().empty() || file.arch() == Arch::kUnknown || entries.size() > kMostEntries)
    return;
  Flood flood(file, entries);
  for (std::size_t i = 0; i < entries.size(); ++i) flood.add(entries[i], i);
  EntrySet others;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (interrupts[i]) continue;
    others.set(i);
    flood.close(entries[i]);
  }
  leads_anywhere_ = flood.leads_anywhere(others);
  flood.add_other_ways();
  if (flood.is_exhausted()) return;
  other_ways_ = flood.other_ways();
  for (const auto& [address, reached] : flood.reached())
    code_.push_back({address, reached.flow.size, reached.all()});
}

EntrySet CodeOfEntries::entries_at(ImageAddr at) const {
  const auto after = std::upper_bound(
      code_.begin(), code_.end(), at,
      [](ImageAddr to, const Instruction& instruction) { return to < instruction.address; });
  if (after == code_.begin()) return {};
  const Instruction& instruction = *std::prev(after);
  return at - instruction.address < instruction.size ? instruction.entries : EntrySet();
}

}  // namespace ringside::guestos
