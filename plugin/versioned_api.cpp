#include "plugin/versioned_api.h"

#include <algorithm>
#include <array>
#include <cstdlib>

// RINGSIDE_PLUGIN_API is 4, 6 or 7. By include/qemu/qemu-plugin.h of QEMU 9.2 to 11.1:
//   4  QEMU 9.2 and 10.0; 10.1 and 10.2 have version 5 and accept it
//   6  QEMU 11.0: qemu_plugin_read_register() returns a bool, not the register's size
//   7  QEMU 11.1: each callback gets a pointer that was handed over with it, and no plugin id

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = RINGSIDE_PLUGIN_API;

#if RINGSIDE_PLUGIN_API >= 6
bool qemu_plugin_read_register(qemu_plugin_register*, GByteArray*);
#else
int qemu_plugin_read_register(qemu_plugin_register*, GByteArray*);  // -1: it cannot be read
#endif

#if RINGSIDE_PLUGIN_API >= 7
using VcpuCallback = void (*)(unsigned vcpu, void* userdata);
using TranslationCallback = void (*)(qemu_plugin_tb*, void* userdata);
using ExitCallback = void (*)(void* userdata);
#define RINGSIDE_USERDATA , void* userdata
#else
using VcpuCallback = void (*)(qemu_plugin_id_t, unsigned vcpu);
using TranslationCallback = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using ExitCallback = void (*)(qemu_plugin_id_t, void* userdata);
#define RINGSIDE_USERDATA
#endif
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, VcpuCallback RINGSIDE_USERDATA);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t, VcpuCallback RINGSIDE_USERDATA);
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t, VcpuCallback RINGSIDE_USERDATA);
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t, VcpuCallback RINGSIDE_USERDATA);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, TranslationCallback RINGSIDE_USERDATA);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, ExitCallback, void* userdata);
#undef RINGSIDE_USERDATA

}  // extern "C"

namespace ringside::plugin {

#if RINGSIDE_PLUGIN_API >= 7

namespace {

Events& events_of(void* userdata) { return *static_cast<Events*>(userdata); }

}  // namespace

bool report_to(qemu_plugin_id_t id, Events& events) {
  void* const self = &events;
  qemu_plugin_register_vcpu_init_cb(
      id, [](unsigned vcpu, void* data) { events_of(data).on_vcpu_init(vcpu); }, self);
  qemu_plugin_register_vcpu_exit_cb(
      id, [](unsigned vcpu, void* data) { events_of(data).on_vcpu_exit(vcpu); }, self);
  qemu_plugin_register_vcpu_idle_cb(
      id, [](unsigned vcpu, void* data) { events_of(data).on_idle(vcpu); }, self);
  qemu_plugin_register_vcpu_resume_cb(
      id, [](unsigned vcpu, void* data) { events_of(data).on_resume(vcpu); }, self);
  qemu_plugin_register_vcpu_tb_trans_cb(
      id, [](qemu_plugin_tb* block, void* data) { events_of(data).on_translation(block); }, self);
  qemu_plugin_register_atexit_cb(
      id, [](void* data) { events_of(data).on_exit(); }, self);
  return true;
}

#else

namespace {

struct Installed {
  qemu_plugin_id_t id = 0;
  Events* events = nullptr;
};

// The file may be given twice, by two paths: QEMU then installs it twice, and the dynamic linker
// has it once. Few are ever needed: one for each -plugin.
std::array<Installed, 8> installed{};

Events& events_of(qemu_plugin_id_t id) {
  for (const Installed& one : installed)
    if (one.events != nullptr && one.id == id) return *one.events;
  std::abort();  // QEMU calls none that it has not installed
}

}  // namespace

bool report_to(qemu_plugin_id_t id, Events& events) {
  const auto place = std::find_if(installed.begin(), installed.end(),
                                  [](const Installed& one) { return one.events == nullptr; });
  if (place == installed.end()) return false;
  *place = {id, &events};
  qemu_plugin_register_vcpu_init_cb(
      id, [](qemu_plugin_id_t by, unsigned vcpu) { events_of(by).on_vcpu_init(vcpu); });
  qemu_plugin_register_vcpu_exit_cb(
      id, [](qemu_plugin_id_t by, unsigned vcpu) { events_of(by).on_vcpu_exit(vcpu); });
  qemu_plugin_register_vcpu_idle_cb(
      id, [](qemu_plugin_id_t by, unsigned vcpu) { events_of(by).on_idle(vcpu); });
  qemu_plugin_register_vcpu_resume_cb(
      id, [](qemu_plugin_id_t by, unsigned vcpu) { events_of(by).on_resume(vcpu); });
  qemu_plugin_register_vcpu_tb_trans_cb(
      id, [](qemu_plugin_id_t by, qemu_plugin_tb* block) { events_of(by).on_translation(block); });
  qemu_plugin_register_atexit_cb(
      id, [](qemu_plugin_id_t by, void*) { events_of(by).on_exit(); }, nullptr);
  return true;
}

#endif

bool read_register(qemu_plugin_register* handle, GByteArray* bytes) {
#if RINGSIDE_PLUGIN_API >= 6
  return qemu_plugin_read_register(handle, bytes);
#else
  return qemu_plugin_read_register(handle, bytes) > 0;
#endif
}

}  // namespace ringside::plugin
