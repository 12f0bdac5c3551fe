#include "cli/verbs/ps_verb.h"

#include <time.h>

#include <algorithm>

#include "app/attach.h"
#include "app/kernel_file.h"
#include "app/messages.h"
#include "app/running_qemus.h"
#include "app/settings/sampling_settings.h"
#include "app/signals.h"
#include "app/suspension.h"
#include "base/clock.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs/process_text.h"

namespace ringside::cli {
namespace {

constexpr double kNs = 1e9;

bool is_over() { return app::Signals::interrupted() || app::Signals::terminated(); }

// Suspends ringside if that is wanted. The guest must not be held. False when a signal to end has
// come meanwhile.
bool rest(engines::Engine& engine, std::uint64_t ns) {
  constexpr std::uint64_t kPiece = 20'000'000;
  for (const std::uint64_t end = monotonic_ns() + ns; !is_over();) {
    if (app::Suspension::is_wanted()) {
      engine.before_suspension();
      app::Suspension::now();
    }
    engine.attend();
    const std::uint64_t now = monotonic_ns();
    if (now >= end) return true;
    sleep_ns(std::min(end - now, kPiece));
  }
  return false;
}

}  // namespace

void PsVerb::add_options(App& app) {
  app.add_option("FORMAT", format_,
                 "'aux' for the columns of ps aux: processes with their command lines; default: a "
                 "line for each thread")
      ->one_of({"aux", "threads"});
  app.add_option("-o,--format", output_format_, "The same")
      ->type_name("FORMAT")
      ->one_of({"aux", "threads"});
  App& guest = app.section("Which guest");
  guest
      .add_option("--gdb,--remote", gdb_,
                  "gdb stub to attach to: a Unix socket's path, HOST:PORT or PORT")
      ->type_name("ADDR");
  guest
      .add_option_function(
          "--qmp,--qmp-socket",
          [this](const std::string& address) {
            qmp_ = address.empty() ? app::kQmpSocket : address;
          },
          "QEMU's monitor to attach to: a Unix socket's path or HOST:PORT (default: ./qmp-socket)")
      ->expected(0, 1)
      ->type_name("ADDR");
  guest.add_flag("--leave-stub", leave_stub_,
                 "With --qmp: leave the guest's gdb stub alone, even while nobody uses it");
  guest
      .add_option("--ring", ring_,
                  "The file (ring=FILE) of a QEMU with the plugin libringside-tcg.so")
      ->type_name("FILE");
  App& names = app.section(kNamesSection);
  names
      .add_option("--kernel", kernel_,
                  "The kernel: its ELF file, or a boot image such as vmlinuz (default: found in "
                  "the guest's memory)")
      ->type_name("FILE");
  names.add_option("--symbols", symbols_, "The kernel's symbols: System.map, /proc/kallsyms")
      ->type_name("FILE");
  names.add_flag("--debuginfod", debuginfod_,
                 "Ask the servers of $DEBUGINFOD_URLS for the kernel's types where it has none");
  app.add_option("-w,--watch", watch_s_, "List them again every so many seconds")
      ->expected(0, 1)
      ->default_str("1")
      ->seconds(0.01, 1e6);
  app.add_option("--patience", patience_s_, "How long to wait for a guest that cannot be read yet")
      ->seconds(0.0, 1e6)
      ->capture_default_str();
}

Result<std::unique_ptr<engines::Engine>> PsVerb::attach() {
  const auto give_up = [] { return false; };
  engines::gdb::Options options;
  options.patience.is_over = is_over;
  if (leave_stub_ && qmp_.empty())
    return fail(ErrorCode::kUsage,
                "--leave-stub is for a guest that is reached by its monitor: add --qmp");
  if (!gdb_.empty()) return app::attach_gdb(gdb_, options, give_up);
  if (!ring_.empty()) return app::attach_tcg(ring_, qmp_, is_over, give_up);
  if (qmp_.empty())
    return fail(ErrorCode::kUsage, "which guest? Give --gdb ADDR, --qmp ADDR or --ring FILE{}",
                app::running_qemus_in_words("ps"));
  RINGSIDE_ASSIGN(auto folder, launch::PrivateFolder::create());
  stub_folder_.emplace(std::move(folder));
  RINGSIDE_ASSIGN(auto attachment, app::attach_qmp(qmp_, stub_folder_->path(),
                                                   {.leave_stub = leave_stub_}, options, give_up));
  return std::move(attachment.engine);
}

Result<void> PsVerb::print(session::ProcessLister& lister, const guestos::ProcessList& list) const {
  std::string text;
  if (format_ == "aux") {
    text = process_header();
    RINGSIDE_ASSIGN(const guestos::UserNames users, lister.user_names(list));
    for (const ProcessUsage& process : processes_of(list)) {
      RINGSIDE_ASSIGN(const std::string arguments, lister.arguments(process.leader));
      text += process_line(process, list, users, arguments);
    }
  } else {
    text = thread_header();
    for (const guestos::GuestThread& thread : list.threads) text += thread_line(thread);
  }
  if (watch_s_ != 0) text += "\n";
  const app::Suspension::AtOnce at_once;
  cli::print(text);
  return print_result();
}

Result<void> PsVerb::run(const std::vector<std::string>&) {
  if (!output_format_.empty()) format_ = output_format_;
  session::KernelRequest request;
  request.system.debug_files.debuginfod = debuginfod_;
  if (!kernel_.empty()) {
    RINGSIDE_ASSIGN(request.file, app::open_kernel(kernel_, symbols_));
  }
  const app::Signals signals;
  const app::Suspension suspension;  // outlives the engine, which lets go of the guest
  RINGSIDE_ASSIGN(const auto engine, attach());
  if (request.file) RINGSIDE_TRY(app::check_kernel(*request.file, engine->arch()));
  session::ProcessLister lister(*engine, std::move(request));
  constexpr std::uint64_t kTryAgainNs = 10'000'000;
  constexpr std::uint64_t kProgressNs = 1'000'000'000;
  const auto patience = static_cast<std::uint64_t>(patience_s_ * kNs);
  app::ProgressLine progress(true);
  for (std::uint64_t last = monotonic_ns(); !is_over();) {
    RINGSIDE_ASSIGN(const auto list, lister.poll());
    if (list) {
      progress.clear();
      RINGSIDE_TRY(print(lister, *list));
      if (watch_s_ == 0 || !rest(*engine, static_cast<std::uint64_t>(watch_s_ * kNs))) return {};
      last = monotonic_ns();
      continue;
    }
    const std::uint64_t waited = monotonic_ns() - last;
    if (waited > kProgressNs)
      progress.show(fmt::format("ringside: no list of processes yet, {:.0f} s: {}",
                                static_cast<double>(waited) / kNs, lister.explain()));
    if (waited > patience)
      return fail(ErrorCode::kTimeout, "no list of processes within {} s: {}", patience_s_,
                  lister.explain());
    rest(*engine, kTryAgainNs);
  }
  return {};
}

}  // namespace ringside::cli
