#include "engines/gdb/testing/fake_stub.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/protocol/packet.h"

namespace ringside::engines::gdb::testing {
namespace {

constexpr std::string_view kTarget =
    "<?xml version=\"1.0\"?><target><architecture>i386:x86-64</architecture>"
    "<xi:include href=\"core.xml\"/></target>";
// rax, rsp, rip, cs, cr0; cr3 is not in `g`.
constexpr std::string_view kCore =
    "<feature name=\"core\"><reg name=\"rax\" bitsize=\"64\"/><reg name=\"rsp\" bitsize=\"64\"/>"
    "<reg name=\"rip\" bitsize=\"64\"/><reg name=\"cs\" bitsize=\"32\"/>"
    "<reg name=\"cr0\" bitsize=\"64\"/><reg name=\"cr3\" bitsize=\"64\" regnum=\"70\"/></feature>";

constexpr std::string_view kReadAnnex = "qXfer:features:read:";

std::string hex_of(std::uint64_t value, std::size_t bytes) {
  return encode_hex_text(std::string(reinterpret_cast<const char*>(&value), bytes));
}

}  // namespace

FakeStub::FakeStub(Settings settings) : settings_(std::move(settings)) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  client_.reset(ends[0]);
  server_.reset(ends[1]);
  hangs_ = settings_.hang_after == 0;
  // On connect a running guest stops.
  if (settings_.qemu && settings_.running && !settings_.silent_stops)
    send_packet("T02thread:p01.01;");
  running_ = !settings_.qemu && settings_.running;
  thread_ = std::thread([this] { serve(); });
}

FakeStub::~FakeStub() {
  hangs_ = false;
  ::shutdown(server_.get(), SHUT_RDWR);
  thread_.join();
}

void FakeStub::serve() {
  char bytes[4096];
  for (;;) {
    const ssize_t got = ::recv(server_.get(), bytes, sizeof(bytes), 0);
    if (got <= 0) return;
    while (hangs_) ::usleep(1000);
    const std::lock_guard lock(mutex_);
    for (ssize_t i = 0; i < got; ++i) take_byte(bytes[i]);
  }
}

// As gdb_read_byte in QEMU 7.2, or 10.0.
void FakeStub::take_byte(char byte) {
  reports_stop_ = false;
  if (waiting_for_dollar_) {
    if (byte == '+' || byte == '$') waiting_for_dollar_ = false;
    if (byte != '$') return;
  }
  if (running_) {
    running_ = false;
    if (handled_ >= 0) ++stops_;
    if (settings_.forgets_vcpu) selected_ = 0;
    if (!settings_.silent_stops || byte == '\x03')
      send_packet(settings_.qemu ? "T02thread:p01.01;" : "S05");
    return;
  }
  if (!in_packet_) {
    in_packet_ = byte == '$';
    line_.clear();
    return;
  }
  line_ += byte;
  const std::size_t end = line_.find('#');
  if (end == std::string::npos || line_.size() < end + 3) return;
  in_packet_ = false;
  const std::string body = line_.substr(0, end);
  if (parse_hex_number(line_.substr(end + 1)) != checksum_of(body)) {
    send_bytes("-");
    return;
  }
  send_bytes("+");
  handle(body);
}

void FakeStub::handle(const std::string& request) {
  requests_.push_back(request);
  hangs_ = hangs_ || settings_.hang_after == static_cast<int>(requests_.size());
  if (request == "c" || request.starts_with("D")) left_in_physical_mode_ |= physical_;
  if (request == "c") {
    running_ = true;
    reports_stop_ = true;
    if (handled_ < 0) handled_ = 0;
    return;
  }
  if (handled_ >= 0) {
    const int number = handled_++;
    if (settings_.die_at == number) {
      ::shutdown(server_.get(), SHUT_RDWR);
      return;
    }
    if (settings_.corrupt_at == number) {
      send_bytes("$1234#00");
      return;
    }
    if (settings_.ignore_at == number) return;
  }
  if (request.starts_with("qRcmd,") && settings_.qemu) {
    const std::string command = decode_hex_text(request.substr(6));
    const auto known = settings_.monitor.find(command);
    std::string text = known == settings_.monitor.end() ? settings_.version : known->second;
    if (command == "info status" && known == settings_.monitor.end())
      text = "VM status: " + settings_.status;
    if (command == "cont" && known == settings_.monitor.end())
      running_ = true;
    else
      send_packet("O" + encode_hex_text(text) + "0d0a");
  }
  send_packet(answer(request));
  if (request.starts_with("D")) running_ = true;
  if (!resumes_after_.empty() && request.starts_with(resumes_after_)) {
    resumes_after_.clear();
    running_ = true;
  }
}

std::string FakeStub::answer(const std::string& request) {
  if (request.starts_with("D")) return "OK";
  if (request.starts_with("Hg")) {
    selected_ = *parse_hex_number(request.substr(request.find('.') + 1)) - 1;
    return "OK";
  }
  if (request == "g") return registers_of(settings_.vcpus[selected_]);
  if (request.starts_with("m")) return read_memory(std::string_view(request).substr(1), false);
  if (!settings_.qemu) return "";
  if (request.starts_with("qSupported"))
    return "PacketSize=1000;qXfer:features:read+;multiprocess+";
  if (request.starts_with("qRcmd")) return "OK";
  if (request == "qC") return "QCp01.01";
  if (request == "qAttached") return "1";
  if (request == "qqemu.PhyMemMode") return physical_ ? "1" : "0";
  if (request.starts_with("Qqemu.PhyMemMode:")) {
    physical_ = request.back() == '1';
    return "OK";
  }
  if (settings_.recording && request.starts_with("p")) {
    const auto reply = settings_.recording->p.find(request.substr(1));
    return reply == settings_.recording->p.end() ? "E14" : reply->second;
  }
  if (request == "p46") return hex_of(0x1234000, 8);
  if (settings_.recording && request.starts_with(kReadAnnex)) return annex(request);
  if (request.starts_with("qXfer:features:read:target.xml:0,")) return "l" + std::string(kTarget);
  if (request.starts_with("qXfer:features:read:core.xml:0,"))
    return "m" + std::string(kCore.substr(0, 100));
  if (request.starts_with("qXfer:features:read:core.xml:64,"))
    return "l" + std::string(kCore.substr(100));
  if (request == "qfThreadInfo") return "mp01.01";
  if (request == "qsThreadInfo") {
    const auto asked = std::count(requests_.begin(), requests_.end(), request);
    return asked < static_cast<std::ptrdiff_t>(settings_.vcpus.size())
               ? fmt::format("mp01.{:02x}", asked + 1)
               : "l";
  }
  if (request.starts_with("qThreadExtraInfo,p01.")) {
    const auto index = *parse_hex_number(request.substr(request.find('.') + 1)) - 1;
    return encode_hex_text(
        fmt::format("CPU#{} [{}]", index, settings_.vcpus[index].halted ? "halted " : "running"));
  }
  if (request.starts_with("x") && settings_.binary_reads)
    return request == "x0,0" ? "b" : read_memory(std::string_view(request).substr(1), true);
  return "";
}

// qXfer:features:read:NAME:OFFSET,LENGTH
std::string FakeStub::annex(std::string_view request) const {
  request.remove_prefix(kReadAnnex.size());
  const std::size_t colon = request.find(':');
  const std::size_t comma = request.find(',');
  const auto file = settings_.recording->annexes.find(std::string(request.substr(0, colon)));
  if (file == settings_.recording->annexes.end()) return "E00";
  const std::size_t offset = *parse_hex_number(request.substr(colon + 1, comma - colon - 1));
  const std::size_t length = *parse_hex_number(request.substr(comma + 1));
  const std::string part = file->second.substr(offset, length);
  return (offset + part.size() < file->second.size() ? "m" : "l") + part;
}

FakeStub::Recording FakeStub::Recording::read(const std::string& folder) {
  Recording recording;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    const std::string name = entry.path().filename();
    if (name == "g") {
      file >> recording.g;
    } else if (name == "p") {
      for (std::string number, value; file >> number >> value;) recording.p[number] = value;
    } else {
      recording.annexes[name] = std::string(std::istreambuf_iterator<char>(file), {});
    }
  }
  return recording;
}

std::string FakeStub::registers_of(const Vcpu& vcpu) const {
  if (settings_.recording) return settings_.recording->g;
  const bool user = vcpu.user || stops_ <= settings_.hides_kernel_for;
  const std::uint64_t cs = user ? 0x33 : 0x10;
  if (settings_.qemu) {
    return hex_of(7, 8) + hex_of(vcpu.rsp, 8) + hex_of(vcpu.rip, 8) + hex_of(cs, 4) +
           hex_of(vcpu.firmware ? 0x10 : 0x80000011, 8);
  }
  std::string all = hex_of(7, 8);
  for (int i = 1; i < 16; ++i) all += i == 7 ? hex_of(vcpu.rsp, 8) : "xxxxxxxxxxxxxxxx";
  return all + hex_of(vcpu.rip, 8) + hex_of(2, 4) + hex_of(cs, 4) + std::string(40, '0');
}

std::string FakeStub::read_memory(std::string_view range, bool binary) const {
  std::this_thread::sleep_for(settings_.memory_delay);
  const std::size_t comma = range.find(',');
  const std::uint64_t address = *parse_hex_number(range.substr(0, comma));
  const std::uint64_t size = *parse_hex_number(range.substr(comma + 1));
  std::string bytes;
  for (std::uint64_t at = address; at < address + size; ++at) {
    const auto& pages = physical_ ? settings_.physical_pages : settings_.pages;
    const auto page = pages.find(at & ~std::uint64_t{4095});
    const bool hidden = !physical_ && at >> 63 != 0 && stops_ <= settings_.hides_kernel_for;
    if (page == pages.end() || hidden) return "E14";
    bytes += page->second[at & 4095];
  }
  if (!binary) return encode_hex_text(bytes);
  std::string escaped = "b";
  for (const char c : bytes) {
    if (c == '#' || c == '$' || c == '}' || c == '*') escaped += '}';
    escaped += c == '#' || c == '$' || c == '}' || c == '*' ? static_cast<char>(c ^ 0x20) : c;
  }
  return escaped;
}

void FakeStub::send_packet(std::string_view body) {
  std::string bytes;
  append_packet(bytes, body);
  send_bytes(bytes);
  waiting_for_dollar_ = true;
}

void FakeStub::send_bytes(std::string_view bytes) {
  (void)::send(server_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void FakeStub::user_stops() {
  const std::lock_guard lock(mutex_);
  running_ = false;
  if (!settings_.silent_stops || std::exchange(reports_stop_, false))
    send_packet("T02thread:p01.01;");
}

void FakeStub::user_resumes() {
  const std::lock_guard lock(mutex_);
  running_ = true;
}

void FakeStub::user_resumes_after(std::string request) {
  const std::lock_guard lock(mutex_);
  resumes_after_ = std::move(request);
}

void FakeStub::prints(const std::string& command, std::string text) {
  const std::lock_guard lock(mutex_);
  settings_.monitor[command] = std::move(text);
}

void FakeStub::exits() {
  const std::lock_guard lock(mutex_);
  send_packet("W00");
  ::shutdown(server_.get(), SHUT_RDWR);
}

bool FakeStub::running() {
  const std::lock_guard lock(mutex_);
  return running_;
}

bool FakeStub::left_in_physical_mode() {
  const std::lock_guard lock(mutex_);
  return left_in_physical_mode_ || physical_;
}

std::vector<std::string> FakeStub::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeStub::forget_requests() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

}  // namespace ringside::engines::gdb::testing
