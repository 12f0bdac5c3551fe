#include "app/record_session.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "app/attach.h"
#include "app/guest_control.h"
#include "app/kernel_file.h"
#include "app/launched_guest.h"
#include "app/listening_process.h"
#include "app/messages.h"
#include "app/nearby_kernels.h"
#include "app/outputs.h"
#include "app/record_usage.h"
#include "app/redox_layout.h"
#include "app/settings/context_names.h"
#include "app/settings/cpu_frequency.h"
#include "app/settings/load_bias.h"
#include "app/signals.h"
#include "app/suspension.h"
#include "arch/arch_info.h"
#include "base/clock.h"
#include "base/private_file.h"
#include "engines/ring/ring_engine.h"
#include "engines/ring/stream_engine.h"
#include "launch/host_priority.h"
#include "launch/qemu/qemu_command.h"
#include "recording/writer.h"
#include "symbols/nm/kernel_symbols.h"

namespace ringside::app {
namespace {

using launch::EngineKind;

constexpr const char* kAlreadySaid = "";  // cli/app.cpp prints no empty message
// A kernel drains its rings several times a second.
constexpr std::chrono::seconds kSerialPatience{10};
constexpr int kEndingMs = 1000;
constexpr int kLastMomentsMs = 5000;  // of a QEMU that has closed its connections
constexpr int kPortTakenMs =
    300;  // QEMU reports within some milliseconds that its -gdb port is taken

// A guest that goes on from a snapshot or from another machine has a past.
bool resumes(const launch::QemuCommand& command) {
  return command.has("loadvm") || command.has("incoming");
}

// The kernel as its file describes it, before it runs.
struct Kernel {
  std::shared_ptr<const elf::ElfFile> file;  // null: there is none
  std::string system;                        // empty: not known yet
};

recording::Header make_header(const engines::Engine& engine,
                              const session::SamplingOptions& options, const Kernel& kernel,
                              const RecordRequest& request, EngineKind kind,
                              const std::string& address, bool is_deterministic,
                              std::uint64_t start_ns) {
  recording::Header header;
  header.ringside_version = RINGSIDE_VERSION;
  header.command_line = request.command;
  if (header.command_line.empty()) header.command_line = command_line_of_qemu_at(address);
  timespec wall{};
  ::clock_gettime(CLOCK_REALTIME, &wall);
  header.start_wall_ns = static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000u +
                         static_cast<std::uint64_t>(wall.tv_nsec);
  header.start_monotonic_ns = start_ns;
  if (is_deterministic) header.deterministic_seed = options.seed;
  header.arch = engine.arch();
  header.vcpu_count = static_cast<std::uint32_t>(engine.vcpu_count());
  header.interval_ns = kind == EngineKind::kRing ? 0 : options.interval_ns;  // the guest decides
  header.engine = name_of(kind);
  header.qemu_version = engine.qemu_version();
  header.guest_os = kernel.system;
  if (kernel.file) header.kernel = std::filesystem::path(kernel.file->name()).filename();
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) header.host = host.data();
  return header;
}

void announce(const engines::Engine& engine, const Kernel& kernel, EngineKind kind,
              const std::string& address, const session::SamplingOptions& options,
              const std::string& found_file) {
  const std::string file = kernel.file ? kernel.file->name() : found_file;
  const char* const interface = kind == EngineKind::kTcg   ? "TCG plugin"
                                : kind == EngineKind::kQmp ? "monitor"
                                                           : "gdb stub";
  if (kind == EngineKind::kRing) {
    say(fmt::format(
        "ringside: sampling {} vCPU{} ({}{}) by the guest itself, whose rings are read through {}; "
        "kernel file: {}",
        engine.vcpu_count(), engine.vcpu_count() == 1 ? "" : "s", arch::name_of(engine.arch()),
        kernel.system.empty() ? "" : ", " + kernel.system, address, file.empty() ? "none" : file));
    return;
  }
  say(
      fmt::format("ringside: sampling {} vCPU{} ({}{}) every {:.4g} ms through the {} at {}; "
                  "kernel file: {}",
                  engine.vcpu_count(), engine.vcpu_count() == 1 ? "" : "s",
                  arch::name_of(engine.arch()), kernel.system.empty() ? "" : ", " + kernel.system,
                  static_cast<double>(options.interval_ns) / 1e6, interface, address,
                  file.empty() ? "none" : file));
}

// Which engine ringside chose for a command line, why, and what would be better.
void announce_choice(const launch::LaunchInfo& info) {
  const launch::EngineChoice& choice = info.choice;
  say(fmt::format("ringside: the {} engine: {}", name_of(choice.engine), choice.why));
  if (!choice.better.empty()) say("ringside: better: " + choice.better);
  for (const std::string& warning : info.warnings) say("ringside: --deterministic: " + warning);
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

class Session {
 public:
  Session(const RecordRequest& request, LaunchEnd& end) : request_(request), end_(end) {}

  Result<void> run(const std::function<Result<void>(const RecordSummary&)>& on_recorded) {
    RINGSIDE_TRY(prepare());
    auto recorded = record();
    engine_.reset();  // lets go of the guest, whatever happened
    suspension_.reset();
    priority_.reset();
    own_priority_.reset();
    given_kernel_.reset();  // the summary takes names from the recording
    if (recorded) recorded = on_recorded(summary_);
    if (!guest_ || guest_->info.refused) return recorded;
    if (!recorded) say("ringside: " + recorded.error().message);  // now, not when QEMU has ended
    const bool runs_on =
        !guest_gone_ && !Signals::terminated() && guest_->is_ours() && !guest_->child.poll();
    const bool quits = request_.settings.then_quit && !ends_by_itself();
    if (quits)
      quit_qemu(*guest_);
    else if (runs_on && qemu_runs_on())
      say(guest_moved_ ? "ringside: QEMU is still there, without the guest; ringside ends when "
                         "QEMU does"
                       : "ringside: the guest runs on; ringside ends when QEMU does");
    else if (Signals::terminated() && guest_->is_ours() && qemu_runs_on())
      say(fmt::format("ringside: the guest runs on in QEMU, process {}", guest_->info.pid));
    const bool was_terminated = Signals::terminated();
    const auto ended = wait_for_qemu(*guest_);
    const bool is_there = guest_->qemu.valid() && !guest_->qemu.ends_within(0);
    if (!ended && is_there && !was_terminated)
      say(fmt::format("ringside: QEMU, process {}, has not ended", guest_->info.pid));
    const bool is_signalled = Signals::interrupted() || was_terminated;
    if (ended && !quits && !is_signalled) end_.by_itself = ended->as_shell();
    if (!recorded) return tl::unexpected<Error>(Error{recorded.error().code, kAlreadySaid});
    return {};
  }

 private:
  // Ctrl-C was for QEMU, too, which takes a moment to end; so is what a closed terminal or a
  // supervisor sends to both.
  bool qemu_runs_on() const {
    const bool may_end = Signals::interrupted() || Signals::terminated();
    const int patience_ms = may_end ? kEndingMs : 0;
    return guest_->qemu.valid() && !guest_->qemu.ends_within(patience_ms);
  }

  // QEMU, which is no daemon, has ended or is about to; or so has the command that started it.
  [[nodiscard]] bool ends_by_itself() {
    if (guest_->child.poll()) return guest_->is_ours();
    return guest_->qemu.valid() && guest_->qemu.ends_within(guest_gone_ ? kLastMomentsMs : 0);
  }

  Result<void> prepare() {
    RINGSIDE_TRY(check_usage(request_));
    if (request_.settings.host_priority) RINGSIDE_TRY(launch::HostPriority::check());
    RINGSIDE_ASSIGN(options_, request_.settings.options());
    RINGSIDE_ASSIGN(system_, request_.settings.system.options());
    RINGSIDE_ASSIGN(load_bias_, parse_load_bias(request_.settings.load_bias));
    if (!request_.settings.cpu_frequency.empty()) {
      RINGSIDE_ASSIGN(counter_hz_, parse_cpu_frequency(request_.settings.cpu_frequency));
    }
    RINGSIDE_TRY(refuse_symbolic_link(request_.output));
    RINGSIDE_TRY(check_output(request_.output));
    if (!request_.settings.kernel.empty()) {
      RINGSIDE_ASSIGN(given_kernel_,
                      open_kernel(request_.settings.kernel, request_.settings.symbols));
    }
    return {};
  }

  Result<void> record() {
    RINGSIDE_TRY(attach());
    attaching_ = false;
    if (guest_) system_.initramfs = guest_->info.initrd;
    RINGSIDE_ASSIGN(const Kernel kernel, find_kernel());
    session::KernelRequest wanted{.file = kernel.file, .load_bias = load_bias_, .system = system_};
    if (guest_) {
      const launch::QemuCommand command(guest_->info.arguments);
      wanted.no_firmware = command.has_no_firmware(engine_->arch());
      wanted.has_qemus_firmware = command.has_qemus_firmware(engine_->arch());
    }
    if (!kernel.file) RINGSIDE_TRY(probe_names(wanted));
    if (kernel.file && !given_kernel_ && !load_bias_ && kernel.system == "generic")
      expect_loader(wanted);
    const std::uint64_t start_ns = monotonic_ns();
    // A wrapper may give QEMU what its own command line has not.
    const bool is_qemus = guest_ && std::filesystem::path(request_.command.front())
                                        .filename()
                                        .string()
                                        .starts_with("qemu-system-");
    const bool is_deterministic = is_qemus && guest_->info.is_deterministic;
    RINGSIDE_ASSIGN(auto writer,
                    recording::Writer::create(
                        request_.output, make_header(*engine_, options_, kernel, request_, kind_,
                                                     address_, is_deterministic, start_ns)));
    end_.could_record = true;
    if (guest_) announce_terminal(guest_->info);
    options_.starts_paused = guest_ && (guest_->info.waits_for_continue || is_incoming());
    const auto begun = [&](const std::string& found) {
      announce(*engine_, kernel, kind_, address_, options_, found);
    };
    GuestControl control(guest_ ? &*guest_ : nullptr, request_.settings.after,
                         request_.settings.until, begun, over_, sample_lines());
    session::Recorder recorder(*engine_, std::move(wanted), writer, start_ns, options_);
    const session::RecordResult result = recorder.run(control);
    const engines::SelfPaced* const paced = engine_->self_paced();
    const bool had_samples = paced != nullptr && paced->counts().due != 0;
    const std::string silence = had_samples ? std::string() : engine_->explain_silence();
    engine_.reset();
    control.clear_progress();
    for (const std::string& warning : result.warnings) say("ringside: " + warning);
    summary_.samples = result.samples;
    summary_.rounds = result.rounds;
    summary_.gaps = result.gaps;
    guest_gone_ = result.guest_gone;
    guest_moved_ = result.guest_moved;
    summary_.events = result.events;
    if (result.samples == 0) summary_.silence = silence;
    if (result.samples == 0 && result.due == 0 && silence.empty())
      summary_.silence = control.silence();
    if (result.error) return tl::unexpected<Error>(*result.error);
    if (guest_gone_) return report_guest_end();
    return {};
  }

  [[nodiscard]] std::optional<SampleLines> sample_lines() const {
    if (!request_.settings.each_sample) return std::nullopt;
    // The guest decides where it samples itself.
    return SampleLines(kind_ == EngineKind::kRing ? 0 : options_.interval_ns, options_.duration_ns);
  }

  // The end of a guest that ringside started is reported by its QEMU's exit status.
  Result<void> report_guest_end() const {
    if (guest_) return {};
    const SamplingSettings& settings = request_.settings;
    // One shot has what there was.
    const bool has_shot = settings.one_shot && summary_.samples != 0;
    const bool too_early =
        !has_shot && (settings.duration_s || settings.samples || settings.rounds);
    if (too_early)
      return fail(ErrorCode::kClosed, "{}; {} samples are in {}{}{}",
                  settings.serial.empty()
                      ? "the guest ended before the recording did (QEMU closed the connection)"
                      : "the line ended before the recording did",
                  summary_.samples, request_.output.string(), summary_.silence.empty() ? "" : ": ",
                  summary_.silence);
    say(settings.serial.empty() ? "ringside: the guest has ended (QEMU closed the connection)"
                                : "ringside: the line has ended");
    return {};
  }

  Result<void> attach() {
    const SamplingSettings& settings = request_.settings;
    const auto stop = [] { return Signals::terminated(); };
    if (request_.command.empty()) {
      suspension_.emplace();
      if (!settings.serial.empty()) return attach_serial();
      if (settings.engine == EngineKind::kRing)
        return attach_rings(settings.gdb, settings.qmp, [] { return false; });
      if (!settings.ring.empty()) {
        address_ = settings.ring;
        kind_ = EngineKind::kTcg;
        RINGSIDE_ASSIGN(engine_, attach_tcg(settings.ring, settings.qmp,
                                            stub_options().patience.is_over, [] { return false; }));
        return {};
      }
      if (settings.qmp.empty()) {
        address_ = settings.gdb;
        RINGSIDE_ASSIGN(engine_, attach_gdb(address_, stub_options(), [] { return false; }));
        return {};
      }
      RINGSIDE_ASSIGN(auto folder, launch::PrivateFolder::create());
      stub_folder_.emplace(std::move(folder));
      address_ = settings.qmp;
      return enter_by_monitor(stub_folder_->path(), [] { return false; });
    }
    std::optional<launch::ExitStatus> ended;
    auto guest = launch_guest(request_.command, request_.command_folder, settings.launch_request(),
                              stop, ended);
    if (!guest) {
      if (ended && !Signals::interrupted()) end_.by_itself = ended->as_shell();
      return tl::unexpected<Error>(guest.error());
    }
    guest_.emplace(std::move(*guest));
    if (!guest_->info.error.empty())
      return fail(ErrorCode::kUnsupported, "{}{}", guest_->info.error,
                  guest_->info.refused ? "" : "; the guest runs without being sampled");
    announce_choice(guest_->info);
    if (settings.host_priority) raise_priority();
    if (auto attached = attach_launched(); !attached) {
      const auto early = guest_->child.poll();
      if (!early || !guest_->is_ours()) return attached;
      end_.could_record = true;
      return fail(ErrorCode::kClosed, "QEMU ended ({}) before it could be sampled",
                  early->to_string());
    }
    if (guest_->info.gdb_is_the_users && guest_->qemu.valid() &&
        guest_->qemu.ends_within(kPortTakenMs))
      return fail(ErrorCode::kClosed,
                  "QEMU ended at once: is {} taken by another guest? Nothing was recorded",
                  address_);
    suspension_.emplace();  // not before: Ctrl-Z suspends QEMU, too, which then answers nothing
    return {};
  }

  // Its threads and ours, which would wait behind them.
  void raise_priority() {
    if (!guest_->is_ours()) {
      say("ringside: --host-priority: a QEMU that runs as a daemon keeps its priority");
      return;
    }
    priority_.emplace(guest_->info.pid);
    own_priority_.emplace(::getpid());
    if (!priority_->is_raised() && !priority_->has_group()) {
      say(
          fmt::format("ringside: --host-priority: QEMU, process {}, keeps its priority: it is "
                      "another user's, or has that one already",
                      guest_->info.pid));
      return;
    }
    say(fmt::format("ringside: QEMU, process {}, has the nice value {} while it is recorded{}",
                    guest_->info.pid, launch::HostPriority::kNice,
                    priority_->has_group() ? ", and so has its session" : ""));
  }

  // Through the monitor at `address_`.
  Result<void> enter_by_monitor(const std::filesystem::path& folder,
                                const std::function<bool()>& wait_while) {
    RINGSIDE_ASSIGN(auto attachment, attach_qmp(address_, folder,
                                                {.never_stop = request_.settings.no_stop,
                                                 .leave_stub = request_.settings.leave_stub},
                                                stub_options(), wait_while));
    engine_ = std::move(attachment.engine);
    kind_ = EngineKind::kQmp;
    say("ringside: through the monitor, " + attachment.explanation);
    return {};
  }

  // The rings that the guest fills, by a way in that does not stop it for samples.
  Result<void> attach_rings(const std::string& gdb, const std::string& qmp,
                            const std::function<bool()>& wait_while) {
    kind_ = EngineKind::kRing;
    address_ = qmp.empty() ? gdb : qmp;
    if (!request_.settings.redox_rings.empty()) RINGSIDE_TRY(find_redox_rings());
    std::unique_ptr<engines::Engine> way_in;
    if (qmp.empty()) {
      RINGSIDE_ASSIGN(way_in, attach_gdb(gdb, stub_options(), wait_while));
    } else {
      RINGSIDE_ASSIGN(auto attachment,
                      attach_qmp(qmp, {}, {.never_stop = true}, stub_options(), wait_while));
      way_in = std::move(attachment.engine);
    }
    const SamplingSettings& settings = request_.settings;
    const bool boots = guest_ && !resumes(launch::QemuCommand(guest_->info.arguments));
    const bool from_boot = boots && settings.after.empty() && settings.delay_s == 0;
    engine_ = std::make_unique<engines::ring::RingEngine>(
        std::move(way_in), engines::ring::RingOptions{
                               .redox = redox_, .counter_hz = counter_hz_, .from_boot = from_boot});
    return {};
  }

  Result<void> find_redox_rings() {
    auto kernel = given_kernel_;
    if (!kernel && guest_ && !guest_->info.kernel.empty()) {
      RINGSIDE_ASSIGN(kernel, open_kernel(guest_->info.kernel, request_.settings.symbols));
    }
    RINGSIDE_ASSIGN(redox_,
                    redox_layout(request_.settings.redox_rings, kernel, load_bias_.value_or(0)));
    if (!request_.settings.context_names.empty()) {
      RINGSIDE_ASSIGN(redox_->context_names, read_context_names(request_.settings.context_names));
    }
    return {};
  }

  // The line's kernel is placed by the symbol that it names.
  Result<void> attach_serial() {
    kind_ = EngineKind::kRing;
    address_ = request_.settings.serial;
    engines::Patience patience = stub_options().patience;
    patience.timeout = kSerialPatience;
    RINGSIDE_ASSIGN(auto line, engines::ring::StreamEngine::open(address_, patience, counter_hz_));
    if (!load_bias_ && given_kernel_) {
      load_bias_ =
          elf::load_bias_by(*given_kernel_, line->anchor_name(), line->anchor()).value_or(0);
    }
    engine_ = std::move(line);
    return {};
  }

  // By the engine that the shim has chosen.
  Result<void> attach_launched() {
    const launch::LaunchInfo& info = guest_->info;
    const auto wait_while = [this] {
      return !Signals::terminated() && (!guest_->is_ours() || !guest_->child.poll());
    };
    kind_ = info.choice.engine;
    if (kind_ == EngineKind::kRing)
      return attach_rings(info.gdb_address, info.qmp_address, wait_while);
    if (kind_ == EngineKind::kQmp) {
      address_ = info.qmp_address;
      return enter_by_monitor(guest_->folder.path(), wait_while);
    }
    if (kind_ == EngineKind::kTcg) {
      address_ = info.ring;
      options_.instruction_ns = std::max<std::uint64_t>(info.instruction_ns, 1);
      RINGSIDE_ASSIGN(engine_, attach_tcg(info.ring, info.qmp_address,
                                          stub_options().patience.is_over, wait_while));
      return {};
    }
    address_ = info.gdb_address;
    engines::gdb::Options options = stub_options();
    options.guest_was_running = !info.waits_for_continue && !is_incoming();
    options.stub_thread = guest_->is_ours() ? info.pid : 0;
    RINGSIDE_ASSIGN(engine_, attach_gdb(address_, options, wait_while));
    return {};
  }

  [[nodiscard]] bool is_incoming() const {
    return launch::QemuCommand(guest_->info.arguments).has("incoming");
  }

  engines::gdb::Options stub_options() {
    engines::gdb::Options options;
    options.captures_paused = request_.settings.one_shot;
    options.patience.is_over = [this] {
      // Ctrl-C is for QEMU, too, where ringside started it.
      const bool interrupted = !guest_ && Signals::interrupted();
      return over_ || (attaching_ && (interrupted || Signals::terminated()));
    };
    return options;
  }

  Result<Kernel> find_kernel() {
    Kernel kernel;
    kernel.file = given_kernel_;
    if (!kernel.file && guest_ && !guest_->info.kernel.empty()) {
      // QEMU's -kernel may be anything that boots: not the user's mistake.
      auto file = open_kernel(guest_->info.kernel, request_.settings.symbols);
      if (file)
        kernel.file = std::move(*file);
      else if (!request_.settings.symbols.empty() && file.error().code != ErrorCode::kNotFound)
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
    RINGSIDE_ASSIGN(kernel.system, guestos::system_of(system_, *kernel.file));
    return kernel;
  }

  // -kernel may be a boot loader, where it is not recognized as a system.
  void expect_loader(session::KernelRequest& wanted) const {
    std::error_code gone;  // the working folder may be
    std::filesystem::path folder = request_.command_folder;
    if (folder.empty()) folder = std::filesystem::current_path(gone);
    wanted.is_given = false;
    wanted.find_more = [loader = guest_->info.kernel, initrd = guest_->info.initrd, folder,
                        machine = engine_->arch()] {
      return find_loaded_kernels(loader, initrd, folder, machine);
    };
  }

  // Adds sources of names for a kernel without a file: --symbols, and kernel files nearby.
  Result<void> probe_names(session::KernelRequest& wanted) {
    if (!request_.settings.symbols.empty()) {
      RINGSIDE_ASSIGN(auto symbols, symbols::read_kernel_symbols(request_.settings.symbols));
      wanted.symbols = std::make_shared<const symbols::SymbolList>(std::move(symbols));
    }
    std::filesystem::path folder = request_.command_folder;
    std::error_code gone;  // the working folder may be
    if (folder.empty()) folder = std::filesystem::current_path(gone);
    if (gone) return {};
    NearbyKernels near = find_nearby_kernels(folder, engine_->arch());
    wanted.candidates = std::move(near.files);
    if (!near.caveat.empty()) say("ringside: " + near.caveat);
    return {};
  }

  const RecordRequest& request_;
  LaunchEnd& end_;
  session::SamplingOptions options_;
  guestos::AdapterOptions system_;
  std::optional<std::uint64_t> load_bias_;
  std::optional<engines::ring::RedoxLayout> redox_;
  double counter_hz_ = 0;                             // of the guest's counter; 0: not given
  std::shared_ptr<const elf::ElfFile> given_kernel_;  // --kernel
  std::string address_;
  EngineKind kind_ = EngineKind::kGdb;
  std::optional<LaunchedGuest> guest_;
  std::optional<launch::HostPriority> priority_;  // QEMU's, with --host-priority
  std::optional<launch::HostPriority> own_priority_;
  std::optional<launch::PrivateFolder> stub_folder_;  // with --qmp
  std::optional<Suspension> suspension_;              // while there is an engine
  std::unique_ptr<engines::Engine> engine_;
  RecordSummary summary_;
  bool guest_gone_ = false;
  bool guest_moved_ = false;
  bool attaching_ = true;
  std::atomic<bool> over_{false};  // the engine is to wait for the guest no longer
};

}  // namespace

Error without_samples(const RecordSummary& summary, const std::string& why) {
  const std::string& reason = summary.silence.empty() ? why : summary.silence;
  return {ErrorCode::kNotFound,
          "no sample was taken" + (reason.empty() ? std::string() : ": " + reason)};
}

Result<void> record_guest(const RecordRequest& request,
                          const std::function<Result<void>(const RecordSummary&)>& on_recorded,
                          LaunchEnd& end) {
  const Signals signals;
  return Session(request, end).run(on_recorded);
}

}  // namespace ringside::app
