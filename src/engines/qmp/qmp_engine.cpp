#include "engines/qmp/qmp_engine.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace ringside::engines::qmp {
namespace {

constexpr const char* kCloseStub = "gdbserver none";
constexpr std::chrono::milliseconds kTimeToClose{1000};  // for what QEMU does at the end
constexpr const char* kStubName = "ringside-stub";       // of the socket's file

// The character device that QEMU's command line gives its stub, "-gdb chardev:NAME"; else the label
// that QEMU itself gives it (gdbstub/softmmu.c, 7.2).
std::string stub_label(pid_t qemu) {
  constexpr std::string_view kDevice = "chardev:";
  std::ifstream command_line(fmt::format("/proc/{}/cmdline", qemu), std::ios::binary);
  for (std::string word; qemu > 0 && std::getline(command_line, word, '\0');) {
    if (word != "-gdb" && word != "--gdb") continue;
    if (std::getline(command_line, word, '\0') && word.starts_with(kDevice))
      return word.substr(kDevice.size());
  }
  return "gdb";
}

// A stub that is there already is its user's, and opening another one would take its place; except
// for one that a ringside left behind that was killed.
Result<void> make_room_for_stub(Monitor& monitor) {
  RINGSIDE_ASSIGN(const auto devices, monitor.character_devices());
  const std::string label = stub_label(monitor.peer());
  for (const Monitor::CharacterDevice& device : devices) {
    if (device.label != label && device.label != "gdb") continue;
    const bool is_left_over = device.filename.starts_with("disconnected:") &&
                              device.filename.find(kStubName) != std::string::npos;
    if (!is_left_over)
      return fail(ErrorCode::kUnsupported, "the guest's gdb stub ({}) is left to its user",
                  device.filename);
    // With it there QEMU refuses another one at times ("duplicate yank instance").
    RINGSIDE_TRY(monitor.human(kCloseStub));
  }
  return {};
}

bool runs_within(Monitor& monitor, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    const auto status = monitor.status();
    if (!status) return false;
    if (*status == "running") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Closes the stub of a guest that runs, to which QEMU may take a connection just before: that stops
// the guest.
void close_stub(Monitor& monitor) {
  (void)monitor.human(kCloseStub);
  const auto status = monitor.status();
  if (status && *status == "paused") (void)monitor.execute("cont", {});
}

}  // namespace

Result<std::unique_ptr<QmpEngine>> QmpEngine::attach(Monitor& monitor,
                                                     const std::string& stub_folder,
                                                     const gdb::Options& given) {
  RINGSIDE_TRY(make_room_for_stub(monitor));
  RINGSIDE_ASSIGN(const std::string status, monitor.status());
  const std::string path = stub_folder + "/" + kStubName;
  RINGSIDE_ASSIGN(const std::string said,
                  monitor.human("gdbserver unix:" + path + ",server=on,wait=off"));
  gdb::Options options = given;
  options.guest_was_running = status == "running";
  RINGSIDE_ASSIGN(const auto stub, SocketAddress::parse("unix:" + path));
  auto gdb = gdb::GdbEngine::connect(stub, options);
  if (gdb) return std::unique_ptr<QmpEngine>(new QmpEngine(std::move(monitor), std::move(*gdb)));
  if (gdb.error().code == ErrorCode::kNotFound)
    return fail(ErrorCode::kUnsupported, "QEMU {} opens no gdb stub at {}: {}",
                monitor.qemu_version(), path, said.substr(0, said.find_last_not_of("\r\n") + 1));
  // The connection may have stopped the guest; then its guardian lets it run, through the stub.
  monitor.set_patience({kTimeToClose});
  if (!*options.guest_was_running)
    (void)monitor.human(kCloseStub);
  else if (runs_within(monitor, kTimeToClose))
    close_stub(monitor);
  return tl::unexpected<Error>(gdb.error());
}

// Whether the guest is to be left alone. The monitor answers without a stop, so it is asked first.
Result<bool> QmpEngine::is_migrating() {
  RINGSIDE_ASSIGN(const Migration migration, monitor_.migration());
  const bool is_under_way = migration == Migration::kUnderWay || migration == Migration::kFinishing;
  if (is_under_way || was_under_way_) gdb_->note_migration(migration);
  was_under_way_ = is_under_way;
  return is_under_way;
}

Result<bool> QmpEngine::guest_is_running() {
  RINGSIDE_ASSIGN(const bool migrates, is_migrating());
  if (migrates && !gdb_->left_standing()) return false;
  return gdb_->guest_is_running();
}

Result<Tick> QmpEngine::tick(const TickPlan& plan) {
  monitor_.take_events();  // STOP and RESUME, of each tick
  // A stop by the guest's user that waits in QEMU is carried out before the sample's.
  RINGSIDE_ASSIGN(const bool migrates, is_migrating());
  if (migrates) return Tick::of_guest(LeftAlone::kMigrating);
  return gdb_->tick(plan);
}

QmpEngine::~QmpEngine() {
  monitor_.set_patience({kTimeToClose});
  monitor_.take_events();
  const auto runs = guest_is_running();
  const bool stays =
      runs ? !*runs : is_of_migration(runs.error());  // its user paused or migrates it
  gdb_.reset();                                       // detaches: the guest runs on
  // The stub's bytes must have been heeded before it goes: else its guardian lets the guest run.
  monitor_.take_events();
  if (stays || runs_within(monitor_, kTimeToClose)) (void)monitor_.human(kCloseStub);
}

}  // namespace ringside::engines::qmp
