#pragma once

namespace ringside::plugin {

// Runs `body(self)` in a thread of the plugin's, for as long as QEMU lives. No signal goes to it:
// they are QEMU's. False, with a line on standard error, where there can be no thread.
[[nodiscard]] bool start_own_thread(void (*body)(void* self), void* self);

}  // namespace ringside::plugin
