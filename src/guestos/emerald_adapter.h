#pragma once

#include <map>
#include <optional>
#include <utility>

#include "guestos/emerald/guest_program.h"
#include "guestos/emerald/metadata.h"
#include "guestos/generic_adapter.h"

namespace ringside::guestos {

// Emerald, and every small x86_64 kernel that gives its processes the same metadata page
// (docs/adding-a-guest-os.md): who runs stands in each capture, for the page is copied with it.
// Programs are identified by their .text.
//
// Where it is to be found out whether the kernel has such pages, the first captures' address spaces
// are looked at; until one has been found it is a GenericAdapter.
class EmeraldAdapter final : public GenericAdapter {
 public:
  // `is_sure`: the user says that the kernel has them.
  EmeraldAdapter(const AdapterOptions& options, bool is_sure);

  [[nodiscard]] std::string_view name() const override;
  [[nodiscard]] Result<TaskAttribution> attribute(const wire::Capture& capture, GuestMemory& memory,
                                                  ProcessUpdates& updates) override;
  [[nodiscard]] std::vector<wire::RecipeOp> recipe(VcpuId vcpu,
                                                   const Learnt& learnt) const override;

 protected:
  [[nodiscard]] bool knows_programs() const override {
    return has_pages_ || GenericAdapter::knows_programs();
  }

 private:
  using Identity = decltype(std::declval<emerald::Metadata>().identity());
  struct Process {
    std::uint64_t address_space = 0;  // 0: its .text could not be read yet
    unsigned tries = 0;
  };

  [[nodiscard]] Result<std::optional<emerald::Metadata>> metadata_of(const wire::Capture& capture,
                                                                     GuestMemory& memory);
  [[nodiscard]] Result<void> learn(const emerald::Metadata& metadata, const wire::Capture& capture,
                                   GuestMemory& memory, Process& process, ProcessUpdates& updates);

  emerald::GuestPrograms programs_;
  bool has_pages_;
  bool may_have_pages_ = false;  // the last capture's process: it is too early to say
  unsigned probes_left_;
  std::map<std::uint64_t, unsigned> probes_;                     // by root, while it is found out
  std::map<std::pair<std::uint64_t, Identity>, Process> known_;  // by root and what the page says
};

}  // namespace ringside::guestos
