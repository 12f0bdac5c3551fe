#pragma once

#include "plugin/qemu_api.h"

// The differences between the versions of QEMU's plugin API, in one form: versioned_api.cpp is
// compiled once for each of them, and everything else once for all.

namespace ringside::plugin {

// Events that QEMU reports to a plugin. The calls about a vCPU come in its own thread.
class Events {
 public:
  virtual ~Events() = default;
  virtual void on_vcpu_init(unsigned vcpu) = 0;
  virtual void on_vcpu_exit(unsigned vcpu) = 0;
  virtual void on_idle(unsigned vcpu) = 0;
  virtual void on_resume(unsigned vcpu) = 0;
  virtual void on_translation(qemu_plugin_tb* block) = 0;
  virtual void on_exit() = 0;
};

// From now on QEMU reports to `events`, which must live as long as QEMU, in the name of the plugin
// that it is installing as `id`. False where there are too many plugins in this QEMU already.
[[nodiscard]] bool report_to(qemu_plugin_id_t id, Events& events);

// Appends the register's bytes, in the guest's order; false where it cannot be read.
[[nodiscard]] bool read_register(qemu_plugin_register* handle, GByteArray* bytes);

}  // namespace ringside::plugin
