#include "app/attach.h"

#include <time.h>

#include <cstdlib>

#include "app/messages.h"
#include "arch/arch_info.h"
#include "base/socket.h"
#include "engines/tcg/tcg_engine.h"
#include "launch/plugin_files.h"
#include "launch/plugin_refusal.h"
#include "launch/qemu_command.h"
#include "launch/qemu_shim.h"
#include "launch/unshimmed_qemu.h"
#include "symbols/linux_image/open_kernel.h"

namespace ringside::app {
namespace {

// After 40 tries, which are 0.2 s, and then half as often each time: a look reads all of /proc.
constexpr unsigned kFirstLook = 40;
constexpr unsigned kLongestLook = 400;

void rest() {
  const timespec pause{0, 5'000'000};
  ::nanosleep(&pause, nullptr);
}

std::string words_of(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

Result<launch::ChildProcess> start(const std::vector<std::string>& command,
                                   const std::filesystem::path& command_folder,
                                   const launch::LaunchRequest& request,
                                   const std::filesystem::path& self,
                                   const std::filesystem::path& folder) {
  RINGSIDE_TRY(request.write(folder));
  const char* variable = std::getenv("PATH");
  const std::string path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  RINGSIDE_TRY(launch::write_shims(folder, self, path));
  std::vector<std::string> words = command;
  // A QEMU given by its path would not be looked up in PATH.
  if (launch::is_qemu_program(command[0]) && command[0].find('/') != std::string::npos)
    words.insert(words.begin(), {self.string(), launch::kShimOption, folder.string()});
  return launch::ChildProcess::start(words, launch::path_with_shims(folder, path), command_folder);
}

// What was asked for can only be had of a QEMU that is started with options of ringside's.
std::optional<launch::LaunchInfo> with_wishes(std::optional<launch::LaunchInfo> info,
                                              const launch::LaunchRequest& request) {
  if (!info || !info->error.empty()) return info;
  if (request.deterministic || request.taps_serial)
    info->error = info->choice.why + "; --deterministic, --after and --until need such options";
  else if (request.engine != "auto" && request.engine != info->choice.engine)
    info->error = fmt::format("{}; --engine {} needs such options: leave it out to use {}",
                              info->choice.why, request.engine, info->choice.engine);
  return info;
}

Result<LaunchedGuest> launch_once(const std::vector<std::string>& command,
                                  const std::filesystem::path& command_folder,
                                  const launch::LaunchRequest& request,
                                  const std::filesystem::path& self,
                                  const std::function<bool()>& stop) {
  RINGSIDE_ASSIGN(auto folder, launch::PrivateFolder::create());
  RINGSIDE_ASSIGN(auto child, start(command, command_folder, request, self, folder.path()));
  unsigned next_look = kFirstLook;
  for (unsigned n = 1;; ++n) {
    const auto ended = child.poll();
    RINGSIDE_ASSIGN(auto info, launch::LaunchInfo::read(folder.path()));
    if (!info && n == next_look) {
      next_look = n + std::clamp(n / 4, kFirstLook, kLongestLook);
      auto unshimmed = launch::find_unshimmed_qemu(child.pid(), self);
      // A shim may have become QEMU just now.
      RINGSIDE_ASSIGN(info, launch::LaunchInfo::read(folder.path()));
      if (!info) info = with_wishes(std::move(unshimmed), request);
    }
    if (info) {
      auto qemu = info->daemonizes ? launch::QemuProcess() : launch::QemuProcess(info->pid);
      return LaunchedGuest{std::move(folder), std::move(child), std::move(*info), std::move(qemu)};
    }
    if (ended)
      return fail(ErrorCode::kClosed,
                  "'{}' ended ({}), and ringside saw no QEMU: give a command line that starts QEMU "
                  "and waits for it, or attach to the guest with --gdb or --qmp",
                  words_of(command), ended->to_string());
    if (stop()) return fail(ErrorCode::kClosed, "interrupted before a QEMU was started");
    rest();
  }
}

}  // namespace

Result<LaunchedGuest> launch_guest(const std::vector<std::string>& command,
                                   const std::filesystem::path& command_folder,
                                   launch::LaunchRequest request,
                                   const std::function<bool()>& stop) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::kIo, "/proc/self/exe: {}", error.message());
  request.plugin = launch::find_plugin(self);
  auto guest = launch_once(command, command_folder, request, self, stop);
  if (!guest) return guest;
  const auto next = launch::after_refusal(request, guest->info, guest->child);
  if (next == launch::NextStart::kNone) return guest;
  // A wrapper may do more than to start QEMU.
  if (!launch::is_qemu_program(command[0]))
    return fail(ErrorCode::kClosed,
                "QEMU has not loaded the TCG plugin, and has ended; start it again with --engine "
                "gdb");
  say("ringside: QEMU has not loaded the TCG plugin, and has ended: it is started again");
  request.plugin_failed = next == launch::NextStart::kWithoutPlugin;
  return launch_once(command, command_folder, request, self, stop);
}

Result<std::unique_ptr<engines::Engine>> attach_gdb(const std::string& address,
                                                    const engines::gdb::Options& options,
                                                    const std::function<bool()>& wait_while) {
  RINGSIDE_ASSIGN(const auto parsed, SocketAddress::parse(address));
  while (true) {
    auto engine = engines::gdb::GdbEngine::connect(parsed, options);
    if (engine) return std::unique_ptr<engines::Engine>(std::move(*engine));
    if (engine.error().code != ErrorCode::kNotFound || !wait_while())
      return tl::unexpected<Error>(engine.error());
    rest();
  }
}

Result<engines::qmp::WayIn> attach_qmp(const std::string& address,
                                       const std::filesystem::path& folder, bool stops_the_guest,
                                       const engines::gdb::Options& options,
                                       const std::function<bool()>& wait_while) {
  RINGSIDE_ASSIGN(const auto parsed, SocketAddress::parse(address));
  while (true) {
    auto way_in = engines::qmp::connect(parsed, folder.string(), stops_the_guest, options);
    if (way_in || way_in.error().code != ErrorCode::kNotFound || !wait_while()) return way_in;
    rest();
  }
}

Result<std::unique_ptr<engines::Engine>> attach_tcg(const std::filesystem::path& ring,
                                                    const std::string& monitor,
                                                    const std::function<bool()>& is_over,
                                                    const std::function<bool()>& wait_while) {
  std::optional<SocketAddress> address;
  if (!monitor.empty()) {
    RINGSIDE_ASSIGN(address, SocketAddress::parse(monitor));
  }
  while (true) {
    auto engine =
        engines::tcg::TcgEngine::connect(ring, address, {std::chrono::seconds(5), is_over});
    if (engine) return std::unique_ptr<engines::Engine>(std::move(*engine));
    if (engine.error().code != ErrorCode::kNotFound || !wait_while())
      return tl::unexpected<Error>(engine.error());
    rest();
  }
}

Result<std::shared_ptr<const elf::ElfFile>> open_kernel(const std::string& path,
                                                        const std::string& symbols) {
  // The recording may be read from another folder.
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  return symbols.empty() ? symbols::open_kernel(absolute) : symbols::open_kernel(absolute, symbols);
}

Result<void> check_kernel(const elf::ElfFile& kernel, Arch machine) {
  const Arch arch = kernel.arch();
  if (machine != Arch::kUnknown && !arch::info_of(machine).boots(arch))
    return fail(ErrorCode::kMismatch,
                "{} is for {}, and the guest is {}; give the right file with --kernel",
                kernel.name(), arch::name_of(arch), arch::name_of(machine));
  return {};
}

}  // namespace ringside::app
