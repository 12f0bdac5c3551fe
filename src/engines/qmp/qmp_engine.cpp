#include "engines/qmp/qmp_engine.h"

#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "engines/qmp/users_stub.h"

namespace ringside::engines::qmp {
namespace {

constexpr const char* kCloseStub = "gdbserver none";
constexpr std::chrono::milliseconds kTimeToClose{1000};  // for what QEMU does at the end

// A stub that is there already is its user's, and opening another one would take its place; except
// for one that a ringside left behind that was killed.
Result<void> make_room_for_stub(Monitor& monitor) {
  RINGSIDE_ASSIGN(const auto stub, find_users_stub(monitor));
  if (!stub) return {};
  if (!stub->is_left_over)
    return fail(ErrorCode::kUnsupported, "the guest's gdb stub ({}) is left to its user",
                stub->filename);
  // With it there QEMU refuses another one at times ("duplicate yank instance").
  RINGSIDE_TRY(monitor.human(kCloseStub));
  return {};
}

// The monitor reports whether the guest runs before the stub's connection stops it.
Result<gdb::Options> options_for(Monitor& monitor, const gdb::Options& given) {
  RINGSIDE_ASSIGN(const std::string status, monitor.status());
  gdb::Options options = given;
  options.guest_was_running = status == "running";
  return options;
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
  RINGSIDE_ASSIGN(const gdb::Options options, options_for(monitor, given));
  const std::string path = stub_folder + "/" + kOwnStub;
  RINGSIDE_ASSIGN(const std::string said,
                  monitor.human("gdbserver unix:" + path + ",server=on,wait=off"));
  RINGSIDE_ASSIGN(const auto stub, SocketAddress::parse("unix:" + path));
  auto gdb = gdb::GdbEngine::connect(stub, options);
  if (gdb)
    return std::unique_ptr<QmpEngine>(
        new QmpEngine(std::move(monitor), std::move(*gdb), true, *options.guest_was_running));
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

Result<std::unique_ptr<QmpEngine>> QmpEngine::attach_to(Monitor& monitor, const SocketAddress& stub,
                                                        const gdb::Options& given) {
  RINGSIDE_ASSIGN(const gdb::Options options, options_for(monitor, given));
  RINGSIDE_ASSIGN(auto gdb, gdb::GdbEngine::connect(stub, options));
  return std::unique_ptr<QmpEngine>(
      new QmpEngine(std::move(monitor), std::move(gdb), false, *options.guest_was_running));
}

Monitor QmpEngine::give_back() {
  gdb_->detach();
  has_monitor_ = false;
  return std::move(monitor_);
}

// Whether the guest is to be left alone. The monitor answers without a stop, so it is asked first.
Result<bool> QmpEngine::is_migrating() {
  RINGSIDE_ASSIGN(const Migration migration, monitor_.migration());
  const bool is_under_way = migration == Migration::kUnderWay || migration == Migration::kFinishing;
  if (is_under_way || was_under_way_) gdb_->note_migration(migration);
  was_under_way_ = is_under_way;
  return is_under_way;
}

QmpEngine::QmpEngine(Monitor monitor, std::unique_ptr<gdb::GdbEngine> gdb, bool opened_stub,
                     bool guest_ran)
    : monitor_(std::move(monitor)),
      gdb_(std::move(gdb)),
      closes_stub_(opened_stub),
      was_left_alone_(!guest_ran) {}

// The events that were read since the last time. A stop of ours may not have its events yet. Where
// there are more, somebody else has stopped the guest, too, for a snapshot, say: then what the stub
// has shown counts.
void QmpEngine::count_held() {
  const std::uint64_t by_events = monitor_.stopped_ns() - counted_ns_;
  const std::uint64_t by_stub = gdb_->stood_still_ns() - counted_by_stub_ns_;
  const std::int64_t beyond_ours =
      static_cast<std::int64_t>(monitor_.resumes()) - static_cast<std::int64_t>(gdb_->stops());
  const bool has_others = was_left_alone_ || (has_counted_ && beyond_ours > others_resumes_);
  if (has_others || !std::exchange(has_counted_, true)) others_resumes_ = beyond_ours;
  held_ns_ += has_others ? by_stub : by_events;
  counted_ns_ += by_events;
  counted_by_stub_ns_ += by_stub;
}

Result<bool> QmpEngine::guest_is_running() {
  RINGSIDE_ASSIGN(const bool migrates, is_migrating());
  if (migrates && !gdb_->left_standing()) return false;
  const auto runs = gdb_->guest_is_running();
  monitor_.take_events();
  count_held();
  was_left_alone_ = !runs || !*runs;
  return runs;
}

Result<Tick> QmpEngine::tick(const TickPlan& plan) {
  monitor_.take_events();  // STOP and RESUME, of each tick
  count_held();
  // A stop by the guest's user that waits in QEMU is carried out before the sample's.
  RINGSIDE_ASSIGN(const bool migrates, is_migrating());
  was_left_alone_ = migrates;
  if (migrates) return Tick::of_guest(LeftAlone::kMigrating);
  auto tick = gdb_->tick(plan);
  was_left_alone_ = !tick || tick->left_alone != LeftAlone::kNo;
  return tick;
}

QmpEngine::~QmpEngine() {
  if (!has_monitor_) return;
  monitor_.set_patience({kTimeToClose});
  monitor_.take_events();
  const auto runs = guest_is_running();
  const bool stays =
      runs ? !*runs : is_of_migration(runs.error());  // its user paused or migrates it
  gdb_.reset();                                       // detaches: the guest runs on
  if (!closes_stub_) return;
  // The stub's bytes must have been heeded before it goes: else its guardian lets the guest run.
  monitor_.take_events();
  if (stays || runs_within(monitor_, kTimeToClose)) (void)monitor_.human(kCloseStub);
}

}  // namespace ringside::engines::qmp
