#include "cli/guest_system_flags.h"

#include "cli/options.h"

namespace ringside::cli {

void add_guest_system_flags(App& app, app::GuestSystemSettings& settings) {
  app.add_option("--os", settings.os,
                 "The guest's operating system; emerald: any kernel whose processes have its "
                 "metadata page")
      ->type_name("NAME")
      ->one_of({"auto", "linux", "emerald", "none"})
      ->capture_default_str();
  app.add_option(
         "--programs", settings.programs,
         "The guest's programs on this machine: a process has the name and functions of the "
         "one whose code is in its memory (not linux)")
      ->type_name("DIR");
  app.add_option("--process", settings.processes,
                 "The process whose page tables are at the physical address ROOT (hexadecimal: "
                 "x86's CR3, TTBR0, satp's) is NAME and runs ELF, whose functions are named if its "
                 "code is there; once for each process")
      ->type_name(app::kProcessForm)
      ->allow_extra_args(false);
  app.add_option("--user-elf", settings.user_elf,
                 "A program of the guest's: the processes with its code in their memory run it")
      ->type_name("FILE");
  app.add_option("--sysroot", settings.sysroot,
                 "The guest's files on this machine, for programs and libraries with more symbols "
                 "than the guest's own; those of another build id are not used (linux)")
      ->existing_directory()
      ->type_name("DIR");
}

}  // namespace ringside::cli
