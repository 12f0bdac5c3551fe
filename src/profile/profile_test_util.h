#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/builder.h"
#include "recording/recording_test_util.h"

// For tests: profiles from a few words, through a real recording.
namespace ringside::profile::testing {

// Knows the names that were given to it, by address.
class FakeNamer final : public FrameNamer {
 public:
  void name(const FrameToName& what, NamedFrame& out) override {
    ++calls;
    const std::uint64_t address = what.frame.lookup_address().value;
    if (const auto it = names.find(address); it != names.end()) out.functions = it->second;
    if (const auto it = lines.find(address); it != lines.end()) out.lines = it->second;
    if (const auto it = files.find(address); it != files.end()) out.file = it->second;
  }
  std::map<std::uint64_t, std::vector<std::string>> names;
  std::map<std::uint64_t, std::vector<SourceLine>> lines;
  std::map<std::uint64_t, std::string> files;
  int calls = 0;
};

// One stack: root first, frames parted by '|'. A frame is a name; "user:NAME" is user code,
// "irq:NAME" interrupt code, "?HEX" for a name an unknown address, "[user]" and "[firmware]"
// themselves, "NAME < INLINED < INLINED" a function with others inlined. " || " parts the stack of
// user code from that of the kernel which it entered.
struct Line {
  std::string stack;
  std::uint64_t count = 1;
  std::uint16_t vcpu = 0;
  std::optional<std::uint32_t> pid = {};
  std::optional<std::uint32_t> tid = {};
  std::uint64_t address_space = 0;
  std::uint64_t weight = 1;  // of each
};

class TestRecording {
 public:
  explicit TestRecording(const std::string& guest_os = "linux")
      : writer_(*recording::Writer::create(dir_ / "t.data", header(guest_os))) {
    recording::ImageInfo kernel;
    kernel.name = "kernel";
    EXPECT_TRUE(writer_.add_image(kernel));
    recording::Mapping mapping;
    mapping.image = 1;
    mapping.start = {0x1000};
    mapping.end = {0x100000};
    EXPECT_TRUE(writer_.add_mapping(mapping));
    kernel.name = "program";
    EXPECT_TRUE(writer_.add_image(kernel));
    mapping.image = 2;
    mapping.start = {0x100000};
    mapping.end = {0x200000};
    EXPECT_TRUE(writer_.add_mapping(mapping));
  }

  TestRecording& add(const Line& line) {
    const std::size_t entry = line.stack.find(" || ");
    const Stack stack =
        parse(entry == std::string::npos ? line.stack : line.stack.substr(entry + 4));
    const Stack user = parse(entry == std::string::npos ? "" : line.stack.substr(0, entry));
    const Stack* const parts[] = {&stack, &user};
    const std::span<const Stack* const> all(parts);
    for (std::uint64_t i = 0; i < line.count; ++i) {
      recording::SampleInfo info = next(line.vcpu);
      info.pid = line.pid;
      info.tid = line.tid;
      info.address_space = line.address_space;
      info.weight = line.weight;
      const FrameKind leaf = stack.frames.empty() ? FrameKind::kKernel : stack.frames[0].kind;
      info.level = leaf == FrameKind::kUser       ? PrivilegeLevel::kUser
                   : leaf == FrameKind::kFirmware ? PrivilegeLevel::kFirmware
                                                  : PrivilegeLevel::kKernel;
      EXPECT_TRUE(writer_.add_sample(info, all.first(entry == std::string::npos ? 1 : 2)));
    }
    return *this;
  }
  // The name of a process (`tid` 0: of all its threads) for the samples that follow.
  TestRecording& name(std::uint32_t pid, std::uint32_t tid, const std::string& name,
                      const std::string& cgroup = {}) {
    EXPECT_TRUE(writer_.add_thread_name({10'000'000 * (time_ + 1), pid, tid, 0, name, cgroup}));
    return *this;
  }
  TestRecording& add(wire::Disposition disposition, std::uint64_t count, std::uint16_t vcpu = 0,
                     std::uint64_t weight = 1) {
    for (std::uint64_t i = 0; i < count; ++i) {
      recording::SampleInfo info = next(vcpu);
      info.disposition = disposition;
      info.weight = weight;
      EXPECT_TRUE(writer_.add_sample(info, nullptr));
    }
    return *this;
  }
  recording::Writer& writer() { return writer_; }
  FakeNamer& namer() { return namer_; }

  // Nothing can be added afterwards.
  recording::Reader reader() {
    EXPECT_TRUE(finished_ || writer_.finish());
    finished_ = true;
    auto reader = recording::Reader::open(dir_ / "t.data");
    EXPECT_TRUE(reader);
    return std::move(*reader);
  }

  Result<Profile> try_profile(const BuildOptions& options) {
    auto reader = this->reader();
    return build_profile(reader, namer_, options);
  }
  Profile profile(const BuildOptions& options = {}) {
    auto profile = try_profile(options);
    EXPECT_TRUE(profile);
    profile->symbol_ns = 0;  // the only thing that differs from run to run
    return std::move(*profile);
  }

 private:
  static recording::Header header(const std::string& guest_os) {
    recording::Header header;
    header.ringside_version = "1.2.3";
    header.command_line = {"ringside", "record", "-a b"};
    header.start_wall_ns = 1'700'000'000'000'000'000;
    header.arch = Arch::kX86_64;
    header.vcpu_count = 2;
    header.interval_ns = 10'000'000;
    header.engine = "gdb";
    header.guest_os = guest_os;
    header.kernel = "Linux 6.1";
    return header;
  }

  recording::SampleInfo next(std::uint16_t vcpu) {
    recording::SampleInfo info;
    info.time_ns = 10'000'000 * ++time_;
    info.vcpu = {vcpu};
    info.pause_ns = 100'000 + 1'000 * (time_ % 10);
    return info;
  }

  std::uint64_t address_of(const std::string& name, bool user) {
    auto [it, added] =
        addresses_.try_emplace(name, (user ? 0x100000 : 0x1000) + 16 * addresses_.size() + 8);
    if (added) {
      std::vector<std::string> functions;
      for (std::size_t at = 0; at != std::string::npos;) {
        const std::size_t end = name.find(" < ", at);
        functions.push_back(name.substr(at, end - at));
        at = end == std::string::npos ? end : end + 3;
      }
      namer_.names[it->second] = functions;
      namer_.names[it->second - 1] = functions;
    }
    return it->second;
  }

  Stack parse(const std::string& text) {
    Stack stack;
    std::vector<ringside::Frame> root_first;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('|', at), text.size());
      std::string name = text.substr(at, end - at);
      at = end + 1;
      ringside::Frame frame;
      frame.source = FrameSource::kCfi;
      if (name == "[user]") {
        frame.kind = FrameKind::kUser;
        frame.address = {0x7000'0000};
      } else if (name == "[firmware]") {
        frame.kind = FrameKind::kFirmware;
        frame.address = {0xf000'0000};
      } else {
        if (name.rfind("user:", 0) == 0) {
          frame.kind = FrameKind::kUser;
          name = name.substr(5);
        } else if (name.rfind("irq:", 0) == 0) {
          frame.kind = FrameKind::kInterrupt;
          name = name.substr(4);
        }
        frame.address = {name[0] == '?' ? std::stoull(name.substr(1), nullptr, 16)
                                        : address_of(name, frame.kind == FrameKind::kUser)};
      }
      root_first.push_back(frame);
    }
    stack.frames.assign(root_first.rbegin(), root_first.rend());
    if (!stack.frames.empty()) stack.frames[0].exact = true;
    stack.stop = stack.frames.empty() ? StopReason::kNoRegisters : StopReason::kEndOfStack;
    return stack;
  }

  recording::testing::TempDir dir_;
  recording::Writer writer_;
  FakeNamer namer_;
  std::map<std::string, std::uint64_t> addresses_;
  std::uint64_t time_ = 0;
  bool finished_ = false;
};

inline Profile make_profile(const std::vector<Line>& lines) {
  TestRecording recording;
  for (const Line& line : lines) recording.add(line);
  return recording.profile();
}

// "root;…;leaf" of a stack.
inline std::string text_of(const Profile& profile, NodeId leaf) {
  std::string text;
  for (const FrameId frame : profile.stacks.frames_of(leaf))
    text += (text.empty() ? "" : ";") + std::string(profile.name(frame));
  return text;
}

}  // namespace ringside::profile::testing
