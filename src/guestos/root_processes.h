#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "guestos/adapter_options.h"
#include "guestos/guest_memory.h"
#include "guestos/process_updates.h"
#include "guestos/program_finder.h"
#include "guestos/root_process.h"
#include "wire/capture.h"

namespace ringside::guestos {

// The processes of a kernel of which nothing is known: each root of page tables in which user code
// has run is one, until other code runs there. Their pids count them as they are seen.
class RootProcesses {
 public:
  explicit RootProcesses(const AdapterOptions& options);

  // From now on processes without a name count, too. Before that a kernel may be found that names
  // them itself.
  void count_unnamed() { counts_unnamed_ = true; }
  // Goes on where another one ended.
  void take_over(RootProcesses& before) { spaces_ = std::move(before.spaces_); }

  // Whose time a capture is that has the page tables at `root`. Errors: those of `memory`.
  [[nodiscard]] Result<TaskAttribution> attribute(const wire::Capture& capture, std::uint64_t root,
                                                  GuestMemory& memory, ProcessUpdates& updates);
  // User code can be unwound.
  [[nodiscard]] bool may_know_programs() const { return finder_ != nullptr || !by_root_.empty(); }
  // Sentences for people about files that are not what processes ran.
  [[nodiscard]] std::vector<std::string> caveats() const;

 private:
  // The program that the user gave for a root.
  struct Named {
    std::shared_ptr<const UserImage> program;
    std::unique_ptr<ProgramFinder> finder;
    std::string given;  // as it was given, for messages
  };
  struct Space {
    RootProcess process;
    TaskAttribution attribution;  // without a pid: not counted yet
    std::string name;             // that was reported
    // A page of its own: the first sample's stack.
    GuestVirt stack;
    std::optional<GuestPhys> stack_at;
  };

  [[nodiscard]] Result<bool> poll(Space& space, const Named* named, const wire::Capture& capture,
                                  GuestMemory& memory);
  void note_kernel_code(const wire::Capture& capture, bool in_users_root);
  // The space of which this is the kernel's root; null for the kernel's own, or one not seen yet.
  [[nodiscard]] Result<Space*> partner_of(const wire::Capture& capture, std::uint64_t root,
                                          GuestMemory& memory);
  // Whether the capture's page tables map the stack of the space's user code.
  [[nodiscard]] static Result<bool> maps_stack_of(const Space& space, const wire::Capture& capture,
                                                  GuestMemory& memory);
  void report(Space& space, const Named* named, bool is_new_program, ProcessUpdates& updates);
  void note(const Space& space, const Named* named);

  std::shared_ptr<AddressSpaceIds> ids_;
  bool files_;                             // finder_ has a folder's
  std::string from_;                       // what gave finder_, for messages
  std::unique_ptr<ProgramFinder> finder_;  // of processes that by_root_ has not; null: no files
  std::map<std::uint64_t, Named> by_root_;
  bool counts_unnamed_ = false;
  std::map<std::uint64_t, Space> spaces_;  // by root
  // With page-table isolation a process has two roots, and the kernel runs with the other one.
  struct Partner {
    std::optional<std::uint64_t> root;  // that user code has
    std::uint64_t next_poll_ns = 0;
    std::uint64_t next_users = 0;  // the root with which the next look begins
  };
  std::map<std::uint64_t, Partner> partners_;      // by the kernel's root
  std::set<std::uint64_t> kernel_in_users_roots_;  // pages of the kernel's code that ran so
  std::set<std::uint64_t> kernel_elsewhere_;

  std::map<std::string, std::set<std::uint32_t>> of_no_file_;  // pids by what was given
  std::map<std::string, std::set<std::uint32_t>> unreadable_;  // the same
  std::set<std::string> could_not_compare_;                    // what was given
};

}  // namespace ringside::guestos
