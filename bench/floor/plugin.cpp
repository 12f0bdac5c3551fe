#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "plugin/block_end.h"
#include "plugin/last_instruction.h"
#include "plugin/qemu_api.h"

// A plugin that does nothing, by one of the ways in which it could be called when a sample is due:
// what each costs the guest is what no sampling plugin can do without. check=none|callback|store,
// in=all|some: in all blocks or in those that ringside's plugin checks.

namespace {

enum class Check { kNone, kCallback, kStore };

Check the_check = Check::kNone;
bool in_all_blocks = true;
qemu_plugin_u64 the_word{};

// As malloc maps them: a page of the plugin's own is in the middle of each.
constexpr std::size_t kElement = 16384;
constexpr std::size_t kMiddle = kElement / 2;

void on_block(unsigned, void*) {}

bool only_skips(const qemu_plugin_tb* block) {
  std::array<std::byte, ringside::plugin::kLongestInstruction> code;
  return ringside::plugin::only_skips(ringside::Arch::kX86_64,
                                      ringside::plugin::last_instruction(block, code));
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  if (the_check == Check::kNone || (!in_all_blocks && only_skips(block))) return;
  if (the_check == Check::kCallback)
    qemu_plugin_register_vcpu_tb_exec_cond_cb(block, on_block, QEMU_PLUGIN_CB_R_REGS,
                                              QEMU_PLUGIN_COND_NE, the_word, 0, nullptr);
  else
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, QEMU_PLUGIN_INLINE_STORE_U64, the_word,
                                                      0);
}

}  // namespace

extern "C" {

// As in versions 4 to 6 of the API (plugin/versioned_api.cpp has all of them).
__attribute__((visibility("default"))) int qemu_plugin_version = 4;
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t, qemu_plugin_tb*));

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t*, int argc,
                                                               char** argv) {
  for (const std::string_view argument : std::span(argv, static_cast<std::size_t>(argc))) {
    if (argument == "check=callback") the_check = Check::kCallback;
    if (argument == "check=store") the_check = Check::kStore;
    if (argument == "in=some") in_all_blocks = false;
  }
  the_word = {qemu_plugin_scoreboard_new(kElement), kMiddle};
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}

}  // extern "C"
