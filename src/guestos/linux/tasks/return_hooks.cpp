#include "guestos/linux/tasks/return_hooks.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "arch/arch_info.h"
#include "elf/symbol_extent.h"
#include "guestos/linux/tasks/task_layout.h"
#include "guestos/linux/tasks/task_pieces.h"

namespace ringside::guestos {
namespace {

using unwind::ReturnHook;
using wire::PieceKind;
using wire::RecipeBuilder;

// A task's array has room for this many records (include/linux/ftrace.h, FTRACE_RETFUNC_DEPTH).
constexpr std::uint32_t kArrayRecords = 50;
// Bytes of a shadow stack (kernel/trace/fgraph.c, SHADOW_STACK_SIZE).
constexpr std::uint32_t kShadowStackBytes = 4096;
// A list is copied so far.
constexpr int kMostNodes = 8;

Window window_of(const HookedReturnFields& fields) {
  Window window{fields.address.offset, fields.address.end()};
  for (const auto& field : {fields.function, fields.frame, fields.slot}) {
    if (!field) continue;
    window.start = std::min(window.start, field->offset);
    window.end = std::max(window.end, field->end());
  }
  return window;
}

void describe_record(const HookedReturnFields& fields, std::uint32_t start, ReturnHook& hook) {
  hook.return_offset = fields.address.offset - start;
  if (fields.function) hook.function_offset = fields.function->offset - start;
  for (const auto& frame : {fields.frame, fields.slot})
    if (frame) hook.frame_offsets.push_back(frame->offset - start);
}

std::optional<ReturnHook> hook_named(const elf::Image& kernel,
                                     std::initializer_list<std::string_view> names) {
  const auto& symbols = kernel.file->symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (std::find(names.begin(), names.end(), symbols[i].name) == names.end()) continue;
    const GuestVirt start = kernel.to_guest(symbols[i].address);
    return ReturnHook{.start = start, .end = start + elf::extent_of(symbols, i)};
  }
  return std::nullopt;
}

ReturnHook graph_hook(ReturnHook hook, Arch arch, const std::optional<GraphTracerFields>& fields) {
  // riscv64's makes one (arch/riscv/kernel/mcount.S).
  hook.has_no_frame = arch != Arch::kRiscv64;
  if (!fields) return hook;
  hook.records =
      fields->is_shadow_stack ? ReturnHook::Records::kShadowStack : ReturnHook::Records::kArray;
  hook.state_tag = kGraphStateTag;
  hook.records_tag = kGraphRecordsTag;
  hook.record_size = static_cast<std::uint32_t>(fields->record.bytes);
  describe_record(fields->record, 0, hook);
  return hook;
}

ReturnHook list_hook(ReturnHook hook, const std::optional<ReturnProbeFields>& fields,
                     TaskPiece state, TaskPiece records) {
  if (!fields) return hook;
  hook.records = ReturnHook::Records::kList;
  hook.state_tag = state;
  hook.records_tag = records;
  describe_record(fields->record, window_of(fields->record).start, hook);
  return hook;
}

void copy_graph(RecipeBuilder& recipe, const GraphTracerFields& fields, RecipeBuilder::Slot task,
                unsigned word) {
  const auto none = recipe.label();
  const auto at = recipe.slot();
  recipe.copy({task, fields.newest.offset}, sizeof(std::int32_t), PieceKind::kSystem,
              kGraphStateTag);
  recipe.load(at, {task, fields.records.offset}, word, none);
  recipe.go_if_equal(at, 0, none);
  const std::uint32_t bytes = fields.is_shadow_stack
                                  ? kShadowStackBytes
                                  : kArrayRecords * static_cast<std::uint32_t>(fields.record.bytes);
  recipe.copy({at}, bytes, PieceKind::kSystem, kGraphRecordsTag);
  recipe.bind(none);
}

void copy_list(RecipeBuilder& recipe, const ReturnProbeFields& fields, RecipeBuilder::Slot task,
               unsigned word, TaskPiece state, TaskPiece records) {
  const auto end = recipe.label();
  const auto at = recipe.slot();
  const Window window = window_of(fields.record);
  recipe.copy({task, fields.first.offset}, word, PieceKind::kSystem, state);
  recipe.load(at, {task, fields.first.offset}, word, end);
  for (int i = 0; i < kMostNodes; ++i) {
    recipe.go_if_equal(at, 0, end);
    const std::uint64_t from_node = std::uint64_t{window.start} - fields.node.offset;
    recipe.copy({at, from_node}, window.size(), PieceKind::kSystem, records);
    recipe.load(at, {at}, word, end);
  }
  recipe.bind(end);
}

}  // namespace

std::vector<ReturnHook> linux_return_hooks(const elf::Image& kernel, const LinuxTypes* types) {
  const ReturnTracerFields fields = types == nullptr ? ReturnTracerFields() : types->tracers;
  std::vector<ReturnHook> hooks;
  if (const auto hook = hook_named(kernel, {"return_to_handler"}))
    hooks.push_back(graph_hook(*hook, kernel.file->arch(), fields.graph));
  if (const auto hook = hook_named(kernel, {"arch_rethook_trampoline"}))
    hooks.push_back(list_hook(*hook, fields.rethook, kRethookStateTag, kRethookRecordTag));
  if (const auto hook = hook_named(kernel, {"__kretprobe_trampoline", "kretprobe_trampoline"}))
    hooks.push_back(list_hook(*hook, fields.kretprobe, kKretprobeStateTag, kKretprobeRecordTag));
  return hooks;
}

void copy_hooked_returns(RecipeBuilder& recipe, const LinuxTypes& types, RecipeBuilder::Slot task) {
  const unsigned word = arch::roles_of(types.arch).pointer_size;
  const ReturnTracerFields& tracers = types.tracers;
  if (tracers.graph) copy_graph(recipe, *tracers.graph, task, word);
  if (tracers.rethook)
    copy_list(recipe, *tracers.rethook, task, word, kRethookStateTag, kRethookRecordTag);
  if (tracers.kretprobe)
    copy_list(recipe, *tracers.kretprobe, task, word, kKretprobeStateTag, kKretprobeRecordTag);
}

}  // namespace ringside::guestos
