#pragma once

#include <map>

#include "guestos/adapter.h"
#include "guestos/adapter_options.h"

namespace ringside::guestos {

// Any kernel: copies the current stack, and the stacks that unwinding has found links to. Processes
// are told by the root of their page tables, and have the programs that the user named; their pids
// count them as they are seen.
class GenericAdapter : public Adapter {
 public:
  explicit GenericAdapter(Arch arch, const AdapterOptions& options = {});

  [[nodiscard]] std::string_view name() const override { return "generic"; }
  [[nodiscard]] std::vector<unwind::EntryLayout> entries() const override { return {}; }
  [[nodiscard]] Result<bool> prepare(std::size_t, const elf::GuestReader&) override { return true; }
  [[nodiscard]] bool adopt(Arch arch) override;
  // A root belongs to a process if user code has run there, or the user has named its program.
  [[nodiscard]] Result<Owner> owner_of(const wire::Capture& capture, GuestMemory& memory,
                                       ProcessNews& news) override;
  [[nodiscard]] std::vector<wire::RecipeOp> recipe(
      VcpuId vcpu, std::span<const LearntLink> learnt) const override;

 protected:
  [[nodiscard]] std::uint64_t next_address_space() { return ids_->next(); }
  // User code can be unwound: its stack is to be copied.
  [[nodiscard]] virtual bool knows_programs() const {
    return program_of_all_ != nullptr || !programs_.empty();
  }

 private:
  [[nodiscard]] Owner process_at(std::uint64_t root, PrivilegeLevel level, ProcessNews& news);
  [[nodiscard]] Owner new_process(const std::shared_ptr<const UserImage>& program,
                                  ProcessNews& news);

  std::shared_ptr<AddressSpaceIds> ids_;
  std::map<std::uint64_t, std::shared_ptr<const UserImage>> programs_;  // by root
  std::shared_ptr<const UserImage> program_of_all_;                     // null: there is none
  std::map<std::uint64_t, Owner> spaces_;                               // by root
};

}  // namespace ringside::guestos
