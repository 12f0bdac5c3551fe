#include "cli/record_session.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"
#include "cli/attach.h"
#include "cli/guest_control.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "recording/writer.h"

namespace ringside::cli {
namespace {

constexpr const char* kAlreadySaid = "";  // app.cpp prints no empty message
constexpr int kQuitWaitMs = 5000;
constexpr int kPortTakenMs =
    300;  // QEMU tells within some milliseconds that its -gdb port is taken

Result<void> check_usage(const RecordRequest& request) {
  const SamplingFlags& flags = request.flags;
  if (request.command.empty() && !flags.attaches())
    return fail(
        ErrorCode::kUsage,
        "which guest? Start it with 'ringside {0} -- qemu-system-x86_64 …', or attach to a gdb "
        "stub with 'ringside {0} --gdb localhost:1234', or to a monitor with --qmp",
        request.verb);
  if (!request.command.empty() && flags.attaches())
    return fail(ErrorCode::kUsage, "{} attaches to a guest that runs; leave it out with -- COMMAND",
                flags.gdb.empty() ? "--qmp" : "--gdb");
  if (!flags.gdb.empty() && !flags.qmp.empty())
    return fail(ErrorCode::kUsage, "--gdb and --qmp are two ways in: give one");
  if (flags.engine == "gdb" && !flags.qmp.empty())
    return fail(ErrorCode::kUsage, "--qmp goes through the monitor: leave out --engine gdb");
  if (request.command.empty() && (!flags.after.empty() || !flags.until.empty() || flags.then_quit))
    return fail(ErrorCode::kUsage, "--after, --until and --then-quit need -- COMMAND");
  if (request.command.empty() && !flags.symbols.empty() && flags.kernel.empty())
    return fail(ErrorCode::kUsage,
                "--symbols needs the kernel's image as well: --kernel FILE (its vmlinuz or Image)");
  return {};
}

}  // namespace

Result<void> check_output(const std::filesystem::path& output) {
  const std::filesystem::path folder = output.has_parent_path() ? output.parent_path() : ".";
  std::error_code ignored;
  const bool is_special = std::filesystem::exists(output, ignored) &&
                          !std::filesystem::is_regular_file(output, ignored);
  if (output == "-" || is_special) return {};
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail_errno("cannot write " + output.string());
  return {};
}

namespace {

// What the kernel's file says before it runs.
struct Kernel {
  std::shared_ptr<const elf::ElfFile> file;  // null: there is none
  std::string system;                        // empty: not known yet
};

recording::Header make_header(const engines::Engine& engine,
                              const session::SamplingOptions& options, const Kernel& kernel,
                              const RecordRequest& request, std::uint64_t start_ns) {
  recording::Header header;
  header.ringside_version = RINGSIDE_VERSION;
  header.command_line = request.command;
  timespec wall{};
  ::clock_gettime(CLOCK_REALTIME, &wall);
  header.start_wall_ns = static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000u +
                         static_cast<std::uint64_t>(wall.tv_nsec);
  header.start_monotonic_ns = start_ns;
  header.arch = engine.arch();
  header.vcpu_count = static_cast<std::uint32_t>(engine.vcpu_count());
  header.interval_ns = options.interval_ns;
  header.engine = request.flags.qmp.empty() ? "gdb" : "qmp";
  header.guest_os = kernel.system;
  if (kernel.file) header.kernel = std::filesystem::path(kernel.file->name()).filename();
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) header.host = host.data();
  return header;
}

void announce(const engines::Engine& engine, const Kernel& kernel, const std::string& way_in,
              const std::string& address, const session::SamplingOptions& options) {
  say(
      fmt::format("ringside: sampling {} vCPU{} ({}{}) every {:.4g} ms through the {} at {}; "
                  "kernel file: {}",
                  engine.vcpu_count(), engine.vcpu_count() == 1 ? "" : "s", name_of(engine.arch()),
                  kernel.system.empty() ? "" : ", " + kernel.system,
                  static_cast<double>(options.interval_ns) / 1e6, way_in, address,
                  kernel.file ? kernel.file->name() : "none"));
}

void announce_terminal(const launch::LaunchInfo& info) {
  if (info.terminal_is_raw)
    say(fmt::format(
        "ringside: QEMU has the terminal: Ctrl-A X ends QEMU and with it the recording; "
        "'kill {}' ends the recording and leaves the guest running",
        ::getpid()));
  if (info.gdb_is_the_users)
    say("ringside: using the gdb stub that the command line already has; no debugger can use it "
        "meanwhile");
  if (info.waits_for_continue)
    say("ringside: QEMU was started with -S; sampling begins when you let the guest go on "
        "(monitor: c)");
}

void rest() {
  const timespec pause{0, 20'000'000};
  ::nanosleep(&pause, nullptr);
}

void quit_qemu(const LaunchedGuest& guest) {
  if (!guest.is_ours()) say("ringside: a QEMU that runs as a daemon is not ended by --then-quit");
  if (guest.qemu.valid()) guest.qemu.end(kQuitWaitMs);
}

// Stays until QEMU ends: it has our terminal. Error if it crashed.
Result<void> wait_for_qemu(LaunchedGuest& guest, const std::filesystem::path& output) {
  if (!guest.is_ours()) return {};
  while (!guest.child.poll()) {
    if (Signals::terminated()) return {};
    rest();
  }
  launch::ExitStatus status = *guest.child.poll();
  // A shell tells of a signal by an exit status above 128.
  if (status.signal == 0 && status.code > 128 && status.code < 128 + NSIG)
    status = {0, status.code - 128};
  const bool crashed = status.signal != 0 && status.signal != SIGINT && status.signal != SIGTERM &&
                       status.signal != SIGHUP && status.signal != SIGKILL;
  if (crashed)
    return fail(ErrorCode::kClosed, "QEMU was {}; what was recorded until then is in {}",
                status.to_string(), output.string());
  // Not an error: kernels end QEMU with a status of their own through isa-debug-exit.
  if (status.code != 0) say("ringside: QEMU ended with " + status.to_string());
  return {};
}

class Session {
 public:
  explicit Session(const RecordRequest& request) : request_(request) {}

  Result<void> run(const std::function<Result<void>(const RecordSummary&)>& on_recorded) {
    RINGSIDE_TRY(prepare());
    auto recorded = record();
    engine_.reset();  // lets go of the guest, whatever happened
    if (recorded) recorded = on_recorded(summary_);
    if (!guest_) return recorded;
    if (!recorded) say("ringside: " + recorded.error().message);  // now, not when QEMU has ended
    const bool runs_on =
        !guest_gone_ && !Signals::terminated() && guest_->is_ours() && !guest_->child.poll();
    if (request_.flags.then_quit)
      quit_qemu(*guest_);
    else if (runs_on)
      say("ringside: the guest runs on; ringside ends when QEMU does");
    auto ended = wait_for_qemu(*guest_, request_.output);
    if (!recorded) return tl::unexpected<Error>(Error{recorded.error().code, kAlreadySaid});
    return ended;
  }

 private:
  Result<void> prepare() {
    RINGSIDE_TRY(check_usage(request_));
    RINGSIDE_ASSIGN(options_, request_.flags.options());
    RINGSIDE_ASSIGN(load_bias_, request_.flags.load_bias_value());
    RINGSIDE_TRY(check_output(request_.output));
    if (!request_.flags.kernel.empty()) {
      RINGSIDE_ASSIGN(given_kernel_, open_kernel(request_.flags.kernel, request_.flags.symbols));
    }
    return {};
  }

  Result<void> record() {
    RINGSIDE_TRY(attach());
    RINGSIDE_ASSIGN(const Kernel kernel, find_kernel());
    const std::uint64_t start_ns = monotonic_ns();
    RINGSIDE_ASSIGN(auto writer, recording::Writer::create(
                                     request_.output,
                                     make_header(*engine_, options_, kernel, request_, start_ns)));
    announce(*engine_, kernel, request_.flags.qmp.empty() ? "gdb stub" : "monitor", address_,
             options_);
    if (guest_) announce_terminal(guest_->info);
    GuestControl control(guest_ ? &*guest_ : nullptr, request_.flags.after, request_.flags.until);
    session::Recorder recorder(*engine_, {kernel.file, load_bias_, request_.flags.guest_os()},
                               writer, start_ns, options_);
    const session::RecordResult result = recorder.run(control);
    engine_.reset();
    control.clear_progress();
    for (const std::string& warning : result.warnings) say("ringside: " + warning);
    summary_.samples = result.samples;
    guest_gone_ = result.guest_gone;
    if (result.error) return tl::unexpected<Error>(*result.error);
    if (guest_gone_) return tell_that_the_guest_ended();
    if (result.samples == 0) say("ringside: no samples were taken");
    return {};
  }

  // The end of a guest that ringside started is told by its QEMU's exit status.
  Result<void> tell_that_the_guest_ended() const {
    if (guest_) return {};
    const bool too_early = request_.flags.duration_s || request_.flags.samples;
    if (too_early)
      return fail(
          ErrorCode::kClosed,
          "the guest ended before the recording did (its gdb stub closed the connection); {} "
          "samples are in {}",
          summary_.samples, request_.output.string());
    say("ringside: the guest has ended (its gdb stub closed the connection)");
    return {};
  }

  Result<void> attach() {
    const SamplingFlags& flags = request_.flags;
    const auto stop = [] { return Signals::terminated(); };
    if (request_.command.empty()) {
      // Suspended in mid-sample, ringside would leave the guest standing.
      ::signal(SIGTSTP, SIG_IGN);
      if (flags.qmp.empty()) {
        address_ = flags.gdb;
        RINGSIDE_ASSIGN(engine_, attach_gdb(address_, std::nullopt, 0, [] { return false; }));
        return {};
      }
      RINGSIDE_ASSIGN(auto folder, launch::PrivateFolder::create());
      stub_folder_.emplace(std::move(folder));
      address_ = flags.qmp;
      RINGSIDE_ASSIGN(engine_, attach_qmp(address_, stub_folder_->path()));
      return {};
    }
    const bool wants_serial = !flags.after.empty() || !flags.until.empty();
    RINGSIDE_ASSIGN(auto guest, launch_guest(request_.command, wants_serial, stop));
    guest_.emplace(std::move(guest));
    if (!guest_->info.error.empty())
      return fail(ErrorCode::kUnsupported, "{}; the guest runs without being sampled",
                  guest_->info.error);
    address_ = guest_->info.gdb_address;
    auto engine = attach_gdb(
        address_, !guest_->info.waits_for_continue, guest_->is_ours() ? guest_->info.pid : 0,
        [this] { return !Signals::terminated() && (!guest_->is_ours() || !guest_->child.poll()); });
    if (!engine) {
      if (const auto ended = guest_->child.poll(); ended && guest_->is_ours())
        return fail(ErrorCode::kClosed, "QEMU ended ({}) before it could be sampled",
                    ended->to_string());
      return tl::unexpected<Error>(engine.error());
    }
    engine_ = std::move(*engine);
    if (guest_->info.gdb_is_the_users && guest_->qemu.valid() &&
        guest_->qemu.ends_within(kPortTakenMs))
      return fail(ErrorCode::kClosed,
                  "QEMU ended at once: is {} taken by another guest? Nothing was recorded",
                  address_);
    return {};
  }

  Result<Kernel> find_kernel() {
    Kernel kernel;
    kernel.file = given_kernel_;
    if (!kernel.file && guest_ && !guest_->info.kernel.empty()) {
      // QEMU's -kernel may be anything that boots: not the user's mistake.
      auto file = open_kernel(guest_->info.kernel, request_.flags.symbols);
      if (file)
        kernel.file = std::move(*file);
      else if (!request_.flags.symbols.empty())
        return tl::unexpected<Error>(file.error());
      else
        say("ringside: no kernel symbols from -kernel: " + file.error().message);
    }
    if (!kernel.file) return kernel;
    RINGSIDE_TRY(check_kernel(*kernel.file, engine_->arch()));
    if (kernel.file->symbols().empty())
      say("ringside: " + kernel.file->name() +
          " has no symbols, so its functions will be addresses; give an unstripped file with "
          "--kernel");
    RINGSIDE_ASSIGN(kernel.system, guestos::system_of(request_.flags.guest_os(), *kernel.file));
    return kernel;
  }

  const RecordRequest& request_;
  session::SamplingOptions options_;
  std::optional<std::uint64_t> load_bias_;
  std::shared_ptr<const elf::ElfFile> given_kernel_;  // --kernel
  std::string address_;
  std::optional<LaunchedGuest> guest_;
  std::optional<launch::PrivateFolder> stub_folder_;  // with --qmp
  std::unique_ptr<engines::Engine> engine_;
  RecordSummary summary_;
  bool guest_gone_ = false;
};

}  // namespace

Result<void> record_guest(const RecordRequest& request,
                          const std::function<Result<void>(const RecordSummary&)>& on_recorded) {
  const Signals signals;
  return Session(request).run(on_recorded);
}

}  // namespace ringside::cli
