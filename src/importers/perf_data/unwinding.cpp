#include "importers/perf_data/unwinding.h"

#include <utility>
#include <vector>

#include "arch/arch_info.h"
#include "base/least_recent.h"

namespace ringside::importers::perf_data {

bool Unwinding::take(const SampleRecord& sample, std::uint64_t registers, PrivilegeLevel level) {
  // Without a header that says it: of a machine as most are.
  const Arch machine = features_.arch == Arch::kUnknown ? Arch::kX86_64 : features_.arch;
  auto state = user_state(sample.user_registers, registers, machine);
  const std::uint8_t sp = state ? arch::roles_of(state->arch).sp : 0;
  if (!state || !state->registers.has(sp)) return false;
  state_ = *state;
  capture_.arch = machine;
  capture_.level = level;
  capture_.registers = state_.registers;
  const std::uint64_t bottom = state_.registers.get(sp);
  capture_.bytes.assign(sample.user_stack.begin(), sample.user_stack.end());
  capture_.pieces.assign(1, {.address = GuestVirt{bottom},
                             .why = wire::PieceKind::kUserStack,
                             .requested = static_cast<std::uint32_t>(sample.user_stack_asked),
                             .offset = 0,
                             .size = static_cast<std::uint32_t>(capture_.bytes.size())});
  return true;
}

Result<recording::StackRef> Unwinding::unwind(const UserSpaces::Version& space) {
  RINGSIDE_ASSIGN(const unwind::UserCode* const code, code_of(space));
  const Stack stack = unwinder_.unwind(state_.arch, state_.registers, capture_, *code);
  for (const Frame& frame : stack.frames)
    RINGSIDE_TRY(images_.note(frame.image, frame.lookup_address().value));
  return writer_->add_stack(stack, 0);
}

Result<const unwind::UserCode*> Unwinding::code_of(const UserSpaces::Version& space) {
  const auto known = spaces_.find(space.number);
  if (known != spaces_.end()) {
    known->second.last_use = ++uses_;
    return &known->second.code;
  }
  if (spaces_.size() >= kMostSpaces) forget_least_recent(spaces_);
  if (ranges_ > kMostRanges) {
    spaces_.clear();
    ranges_ = 0;
  }
  std::vector<unwind::UserCode::Range> ranges;
  if (space.space) {
    for (const UserSpace::Range& range : space.space->ranges()) {
      RINGSIDE_ASSIGN(UserImages::Place place, images_.place_of(range));
      ranges.push_back({GuestVirt{range.start}, GuestVirt{range.end}, place.load_bias, place.image,
                        std::move(place.file)});
    }
  }
  ranges_ += ranges.size();
  Code& code = spaces_[space.number];
  code.code = unwind::UserCode(std::move(ranges));
  code.last_use = ++uses_;
  return &code.code;
}

}  // namespace ringside::importers::perf_data
