#pragma once

namespace ringside::wire {

// How ringside asks a QEMU for its plugin API: it loads the plugin with kPluginQuestion as its only
// argument. The plugin then prints a line, kPluginAnswer with the oldest and the newest version
// that this QEMU accepts ("ringside-plugin-api 2 5"), and refuses to be installed, so that QEMU
// ends.
inline constexpr const char* kPluginQuestion = "question=on";
inline constexpr const char* kPluginAnswer = "ringside-plugin-api ";

}  // namespace ringside::wire
