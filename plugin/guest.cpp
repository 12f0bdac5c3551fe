#include "plugin/guest.h"

#include <algorithm>
#include <cstring>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "plugin/versioned_api.h"

namespace ringside::plugin {
namespace {

constexpr std::size_t kPage = 4096;  // the smallest that any of the architectures has

}  // namespace

void Guest::find_registers(Arch arch) {
  buffer_ = g_byte_array_sized_new(kPage);
  handles_.clear();
  GArray* const all = qemu_plugin_get_registers();
  const std::size_t stride = g_array_get_element_size(all);
  for (guint i = 0; i < all->len; ++i) {
    qemu_plugin_reg_descriptor entry;
    std::memcpy(&entry, all->data + i * stride, sizeof(entry));
    if (const auto known = arch::known_register(arch, entry.name))
      handles_.push_back({entry.handle, *known});
  }
  g_array_free(all, TRUE);
  // First what says which level runs.
  std::stable_partition(handles_.begin(), handles_.end(),
                        [](const Handle& entry) { return entry.known.level == arch::kAnyLevel; });
  arch_ = arch;
}

void Guest::read(const Handle& entry, arch::Registers& registers) {
  g_byte_array_set_size(buffer_, 0);
  if (!read_register(entry.handle, buffer_)) return;
  std::uint64_t value = 0;
  std::memcpy(&value, buffer_->data, std::min<std::size_t>(buffer_->len, sizeof(value)));
  registers.set(entry.known.id, value);
}

void Guest::read_registers(arch::Registers& registers) {
  registers = {};
  for (const Handle& entry : handles_)
    if (entry.known.is_of(arch::running_level(arch_, registers))) read(entry, registers);
}

bool Guest::read_all(GuestVirt address, std::span<std::byte> destination) {
  if (!qemu_plugin_read_memory_vaddr(address.value, buffer_, destination.size()) ||
      buffer_->len < destination.size())
    return false;
  std::memcpy(destination.data(), buffer_->data, destination.size());
  return true;
}

std::size_t Guest::read_memory(GuestVirt address, std::span<std::byte> destination) {
  if (destination.empty() || read_all(address, destination)) return destination.size();
  // All or nothing; so page by page up to the first that is not mapped.
  std::size_t done = 0;
  while (done < destination.size()) {
    const GuestVirt at = address + done;
    const std::size_t size = std::min(destination.size() - done, kPage - at.value % kPage);
    if (!read_all(at, destination.subspan(done, size))) break;
    done += size;
  }
  return done;
}

}  // namespace ringside::plugin
