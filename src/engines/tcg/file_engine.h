#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "engines/engine.h"
#include "wire/sample_file.h"

namespace ringside::engines::tcg {

// Plays what the TCG plugin has written where no ringside ran beside QEMU (wire/sample_file.h), as
// if it were sampled now. The guest is gone: all that is known of its memory is what the file holds
// of its kernel's code.
class FileEngine final : public Engine, public SelfPaced {
 public:
  // Errors: kFormat for what is no such file, with `name`; empty: its path.
  [[nodiscard]] static Result<std::unique_ptr<FileEngine>> open(const std::filesystem::path& path,
                                                                const std::string& name = {});

  [[nodiscard]] const wire::SampleFileHeader& header() const { return header_; }
  // Pages of kernel code that are there, in the order of the file.
  [[nodiscard]] const std::vector<GuestVirt>& code_pages() const { return code_pages_; }
  // Describes the damage behind the file's last whole record; empty where the file is whole.
  [[nodiscard]] const std::string& damage() const { return damage_; }

  [[nodiscard]] std::vector<std::string> caveats() const override {
    return damage_.empty() ? std::vector<std::string>() : std::vector{damage_};
  }

  [[nodiscard]] Arch arch() const override { return static_cast<Arch>(header_.arch); }
  [[nodiscard]] std::size_t vcpu_count() const override { return header_.vcpus; }
  [[nodiscard]] Result<bool> guest_is_running() override { return true; }
  // Error kClosed at the end.
  [[nodiscard]] Result<Tick> tick(const TickPlan&) override;
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId vcpu) override;
  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override;
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId vcpu, GuestVirt address,
                                                 std::span<std::byte> destination) override;
  [[nodiscard]] std::string explain_memory_access() const override { return {}; }
  [[nodiscard]] MemoryPauses memory_pauses() const override { return {}; }

  [[nodiscard]] SelfPaced* self_paced() override { return this; }
  [[nodiscard]] Result<void> start(const Pace&) override;
  void stop() override {}
  [[nodiscard]] PaceCounts counts() const override { return counts_; }
  [[nodiscard]] bool counts_instructions() const override {
    return header_.clock == wire::RingClock::kInstructions;
  }

 private:
  FileEngine(std::shared_ptr<const MappedFile> file, const wire::SampleFileHeader& header);
  void survey();
  void add_counts(const wire::VcpuCounts& now, Tick& tick);

  std::shared_ptr<const MappedFile> file_;
  wire::SampleFileHeader header_;
  std::size_t at_ = sizeof(wire::SampleFileHeader);
  std::size_t end_ = 0;  // behind the last whole record
  std::string damage_;
  std::vector<GuestVirt> code_pages_;
  std::vector<wire::MemoryAt> memory_;
  std::vector<wire::VcpuCounts> counted_;
  PaceCounts counts_;
  bool started_ = false;
};

}  // namespace ringside::engines::tcg
