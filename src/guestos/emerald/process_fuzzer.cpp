#include <cstring>

#include "guestos/emerald/saved_registers.h"
#include "guestos/emerald_adapter.h"

namespace {

using namespace ringside;

// The input is what a process has from its metadata page up; everything else lies at the bytes
// behind it, over and over, so that any address can be read.
class Space final : public guestos::GuestSpace {
 public:
  explicit Space(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt address,
                                               std::span<std::byte> into) override {
    const bool is_page = address == guestos::emerald::kMetadataPage;
    const std::uint64_t offset = is_page ? 0 : address.value % bytes_.size();
    const std::size_t count = std::min<std::size_t>(into.size(), bytes_.size() - offset);
    std::memcpy(into.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  Bytes bytes_;
};

class Memory final : public guestos::GuestMemory {
 public:
  explicit Memory(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] guestos::GuestSpace& kernel() override { return kernel_; }
  [[nodiscard]] std::unique_ptr<guestos::GuestSpace> space_of(const wire::Capture&) override {
    return std::make_unique<Space>(bytes_);
  }
  [[nodiscard]] PhysicalMemory* physical() override { return nullptr; }

 private:
  Bytes bytes_;
  guestos::EmptySpace kernel_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  Memory memory(bytes);
  guestos::EmeraldAdapter adapter({}, (data[0] & 1) != 0);
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.level = (data[0] & 2) != 0 ? PrivilegeLevel::kKernel : PrivilegeLevel::kUser;
  capture.registers.set(arch::x86_64::kCr3, 0x1000);
  capture.registers.set(arch::x86_64::kRsp, 0xffff'8000'0000'1000);
  // Memory that a recipe has copied with the capture.
  capture.bytes.assign(bytes.begin(), bytes.end());
  capture.pieces.push_back(
      {guestos::emerald::kMetadataPage, wire::PieceKind::kSystem, static_cast<std::uint32_t>(size),
       0, static_cast<std::uint32_t>(bytes.size()), guestos::emerald::kMetadataTag});
  for (int i = 0; i < 20; ++i) {
    guestos::ProcessUpdates updates;
    const auto attribution = adapter.attribute(capture, memory, updates);
    for (const guestos::AddressSpaceUpdate& space : updates.spaces)
      for (const guestos::UserMapping& mapping : space.mappings)
        if (mapping.end < mapping.start) __builtin_trap();
    if (!attribution) __builtin_trap();
    if ((data[0] & 4) != 0) capture.pieces.clear();
  }
  return 0;
}
