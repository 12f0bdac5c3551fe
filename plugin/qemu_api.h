#pragma once

#include <glib.h>

#include <cstddef>
#include <cstdint>

// The parts of QEMU's public interface for TCG plugins that this plugin uses and that are the same
// in its versions 4 to 7 (QEMU 9.2 to 11.1); versioned_api.h has the rest. Declared here because
// distributions do not package QEMU's own header; names and types are those of its documentation,
// "QEMU TCG Plugins".

extern "C" {

using qemu_plugin_id_t = std::uint64_t;

struct qemu_info_t {
  const char* target_name;
  struct {
    int min;
    int cur;
  } version;
  bool system_emulation;
  struct {
    int smp_vcpus;
    int max_vcpus;
  } system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_plugin_scoreboard;

// A 64-bit member, at `offset`, of a structure that every vCPU has one of.
struct qemu_plugin_u64 {
  qemu_plugin_scoreboard* score;
  std::size_t offset;
};

// Version 7 has a member more, so the stride of an array is what its GArray says.
struct qemu_plugin_reg_descriptor {
  qemu_plugin_register* handle;
  const char* name;
  const char* feature;
};

enum qemu_plugin_cb_flags {
  QEMU_PLUGIN_CB_NO_REGS,
  QEMU_PLUGIN_CB_R_REGS,
  QEMU_PLUGIN_CB_RW_REGS,
};

enum qemu_plugin_cond {
  QEMU_PLUGIN_COND_NEVER,
  QEMU_PLUGIN_COND_ALWAYS,
  QEMU_PLUGIN_COND_EQ,
  QEMU_PLUGIN_COND_NE,
  QEMU_PLUGIN_COND_LT,
  QEMU_PLUGIN_COND_LE,
  QEMU_PLUGIN_COND_GT,
  QEMU_PLUGIN_COND_GE,
};

enum qemu_plugin_op {
  QEMU_PLUGIN_INLINE_ADD_U64,
  QEMU_PLUGIN_INLINE_STORE_U64,
};

using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu, void* userdata);

void qemu_plugin_register_vcpu_tb_exec_cond_cb(qemu_plugin_tb*, qemu_plugin_vcpu_udata_cb_t,
                                               qemu_plugin_cb_flags, qemu_plugin_cond,
                                               qemu_plugin_u64 entry, std::uint64_t imm,
                                               void* userdata);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(qemu_plugin_tb*, qemu_plugin_op,
                                                       qemu_plugin_u64 entry, std::uint64_t imm);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
// QEMU's, as long as the block is being translated.
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
// Copies its bytes, `size` at most; returns how many.
std::size_t qemu_plugin_insn_data(const qemu_plugin_insn*, void* destination, std::size_t size);

qemu_plugin_scoreboard* qemu_plugin_scoreboard_new(std::size_t element_size);
std::uint64_t qemu_plugin_u64_get(qemu_plugin_u64 entry, unsigned vcpu);
void qemu_plugin_u64_set(qemu_plugin_u64 entry, unsigned vcpu, std::uint64_t value);

// An array of qemu_plugin_reg_descriptor, the caller's; of the vCPU whose thread calls.
GArray* qemu_plugin_get_registers();
// Sets the array to `bytes` bytes of the vCPU's memory; false where not all of it is mapped.
bool qemu_plugin_read_memory_vaddr(std::uint64_t address, GByteArray*, std::size_t bytes);

}  // extern "C"
