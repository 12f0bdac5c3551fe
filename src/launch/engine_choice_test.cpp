#include "launch/engine_choice.h"

#include <gtest/gtest.h>

#include <fstream>

#include "launch/deterministic.h"
#include "launch/host_facts.h"
#include "launch/private_folder.h"

namespace ringside::launch {
namespace {

QemuCommand parse(std::initializer_list<std::string> words) { return QemuCommand(words); }

QemuFacts facts_without_plugin() {
  QemuFacts known{"/usr/bin/qemu-system-x86_64", QemuVersion{7, 2, 22}, true, {}, true};
  known.plugin = {{}, "QEMU 7.2.22 found; the TCG plugin needs 9.2", "apt install", true};
  return known;
}

QemuFacts facts(QemuVersion version = {10, 0, 2}) {
  QemuFacts known{"/usr/bin/qemu-system-x86_64", version, true, {}, true};
  known.plugin = {{"/p.so", 4}, "", "", true};
  return known;
}

using Names = std::vector<std::string>;

TEST(QemuVersion, IsReadFromWhatQemuPrints) {
  // Debian 12's, its backport's, and a build from git.
  EXPECT_EQ(parse_qemu_version("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\n"),
            (QemuVersion{7, 2, 22}));
  EXPECT_EQ(parse_qemu_version("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)\n"),
            (QemuVersion{10, 0, 2}));
  EXPECT_EQ(parse_qemu_version("note\nQEMU emulator version 9.2 (v9.2.0-dirty)"),
            (QemuVersion{9, 2, 0}));
  for (const char* wrong : {"", "QEMU emulator version", "QEMU emulator version x.1", "9.2.0",
                            "QEMU emulator version 9"})
    EXPECT_EQ(parse_qemu_version(wrong), std::nullopt) << wrong;
  EXPECT_LT((QemuVersion{9, 1, 3}), kOldestForPlugin);
  EXPECT_GT((QemuVersion{10, 0, 0}), kOldestForPlugin);
}

TEST(QemuVersion, AProgramIsAskedForIt) {
  auto folder = PrivateFolder::create();
  ASSERT_TRUE(folder);
  const auto script = [&](const char* name, const char* body) {
    const auto path = folder->path() / name;
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  };
  const auto qemu = script("qemu", R"([ "$*" = -version ] && echo QEMU emulator version 8.1.5)");
  const auto version = ask_qemu_version(qemu);
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(*version, (QemuVersion{8, 1, 5}));
  EXPECT_EQ(ask_qemu_version(script("other", "echo hello")).error().code, ErrorCode::kFormat);
  EXPECT_EQ(ask_qemu_version(script("slow", "exec sleep 60"), std::chrono::milliseconds(100))
                .error()
                .code,
            ErrorCode::kTimeout);
  EXPECT_EQ(ask_qemu_version(folder->path() / "none").error().code, ErrorCode::kNotFound);
}

TEST(Accelerators, AreFoundInAllTheirPlaces) {
  const std::string qemu = "qemu-system-x86_64";
  EXPECT_EQ(accelerators(parse({"-m", "1G"}), qemu), Names{"tcg"});
  EXPECT_EQ(accelerators(parse({"-m", "1G"}), "/usr/bin/kvm"), (Names{"kvm", "tcg"}));
  EXPECT_EQ(accelerators(parse({"-enable-kvm"}), qemu), Names{"kvm"});
  EXPECT_EQ(accelerators(parse({"-accel", "kvm", "-accel", "tcg,thread=multi"}), qemu),
            (Names{"kvm", "tcg"}));
  EXPECT_EQ(accelerators(parse({"-accel", "accel=hvf"}), qemu), Names{"hvf"});
  EXPECT_EQ(accelerators(parse({"-machine", "q35,accel=kvm:tcg,usb=off"}), qemu),
            (Names{"kvm", "tcg"}));
  EXPECT_EQ(accelerators(parse({"-M", "virt", "-M", "accel=xen"}), qemu), Names{"xen"});
  EXPECT_EQ(accelerators(parse({"-append", "accel=kvm"}), qemu), Names{"tcg"});
}

TEST(EngineChoice, AutoTakesThePluginWhereItCan) {
  const auto choice = choose_engine(EngineKind::kAuto, parse({"-s", "-accel", "tcg"}), facts());
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->engine, EngineKind::kTcg);
  EXPECT_EQ(choice->why, "QEMU 10.0.2 runs the guest under TCG");
  EXPECT_EQ(choice->better, "");
}

TEST(EngineChoice, AutoSaysWhyItIsGdbAndWhatWouldBeBetter) {
  const auto old = choose_engine(EngineKind::kAuto, parse({}), facts_without_plugin());
  EXPECT_EQ(old->engine, EngineKind::kGdb);
  EXPECT_EQ(old->why, "QEMU 7.2.22 found; the TCG plugin needs 9.2");
  EXPECT_EQ(old->better, "apt install");
  const auto kvm = choose_engine(EngineKind::kAuto, parse({"-accel", "kvm"}), facts());
  EXPECT_EQ(kvm->engine, EngineKind::kGdb);
  EXPECT_EQ(kvm->why, "the guest runs under kvm, where the TCG plugin sees nothing");
  auto silent = facts();
  silent.version.reset();
  EXPECT_EQ(choose_engine(EngineKind::kAuto, parse({}), silent)->why,
            "QEMU runs the guest under TCG");
}

// The plugin sees no halted vCPU, and each of the others at a time of its own.
TEST(EngineChoice, AutoStopsTheGuestForStates) {
  auto of_states = facts();
  of_states.states = true;
  of_states.by_instructions = false;
  const auto choice = choose_engine(EngineKind::kAuto, parse({}), of_states);
  EXPECT_EQ(choice->engine, EngineKind::kGdb);
  EXPECT_EQ(choice->why, "a stop shows all vCPUs at one moment, halted ones too");
  EXPECT_EQ(choose_engine(EngineKind::kTcg, parse({}), of_states)->engine, EngineKind::kTcg);
  of_states.by_instructions = true;
  EXPECT_EQ(choose_engine(EngineKind::kAuto, parse({}), of_states)->engine, EngineKind::kTcg);
}

TEST(EngineChoice, KvmCountsOnlyWhereItCanBe) {
  auto without_kvm = facts();
  without_kvm.kvm_is_usable = false;
  const auto either = parse({"-machine", "q35,accel=kvm:tcg"});
  EXPECT_EQ(choose_engine(EngineKind::kAuto, either, without_kvm)->engine, EngineKind::kTcg);
  EXPECT_EQ(choose_engine(EngineKind::kAuto, either, facts())->engine, EngineKind::kGdb);
  // QEMU then does not start, and says so itself.
  EXPECT_EQ(choose_engine(EngineKind::kAuto, parse({"-enable-kvm"}), without_kvm)->engine,
            EngineKind::kGdb);
}

TEST(EngineChoice, WhatIsAskedForIsTakenOrRefused) {
  EXPECT_EQ(choose_engine(EngineKind::kGdb, parse({}), facts())->engine, EngineKind::kGdb);
  EXPECT_EQ(choose_engine(EngineKind::kQmp, parse({}), facts())->engine, EngineKind::kQmp);
  EXPECT_EQ(choose_engine(EngineKind::kTcg, parse({}), facts())->engine, EngineKind::kTcg);
  const auto refused = choose_engine(EngineKind::kTcg, parse({}), facts_without_plugin());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused.error().message.find("QEMU 7.2.22 found"), std::string::npos);
  EXPECT_FALSE(choose_engine(EngineKind::kQmp, parse({"-s"}), facts()));
}

TEST(HostFacts, TraceRightsFollowYamaAndCapabilities) {
  const std::string root = "000001ffffffffff";
  const std::string user = "0000000000000000";
  EXPECT_EQ(trace_right("", user), TraceRight::kAll);
  EXPECT_EQ(trace_right("0", user), TraceRight::kAll);
  EXPECT_EQ(trace_right("1", user), TraceRight::kChildren);
  EXPECT_EQ(trace_right("1", root), TraceRight::kAll);
  EXPECT_EQ(trace_right("1", "0000000000080000"), TraceRight::kAll);  // 1 << 19
  EXPECT_EQ(trace_right("2", user), TraceRight::kNone);
  EXPECT_EQ(trace_right("2", root), TraceRight::kAll);
  EXPECT_EQ(trace_right("3", root), TraceRight::kNone);
}

std::string deterministic(QemuCommand command, std::size_t warnings) {
  const auto said = make_deterministic(command, "tcg", 7);
  if (!said) return "error: " + said.error().message;
  const std::vector<std::string>& texts = said->warnings;
  EXPECT_EQ(texts.size(), warnings) << (texts.empty() ? "" : texts.front());
  std::string text;
  for (const std::string& word : command.arguments()) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(Deterministic, AddsClockDateAndSeed) {
  const std::string clock = "-icount shift=1,sleep=off -rtc base=2024-01-01T00:00:00,clock=vm";
  EXPECT_EQ(deterministic(parse({"-nodefaults", "-serial", "file:x"}), 0),
            "-nodefaults -serial file:x " + clock + " -seed 7");
  EXPECT_EQ(deterministic(parse({"-m", "1G"}), 1), "-m 1G -nic none " + clock + " -seed 7");
}

TEST(Deterministic, KeepsWhatTheUserFixed) {
  EXPECT_EQ(deterministic(parse({"-nic", "none", "-icount", "shift=3,sleep=off", "-seed", "5",
                                 "-rtc", "base=2001-02-03,driftfix=slew"}),
                          0),
            "-nic none -icount shift=3,sleep=off -seed 5 -rtc "
            "base=2001-02-03,clock=vm,driftfix=slew");
  EXPECT_EQ(deterministic(parse({"-nic", "none", "-rtc", "base=utc,clock=host"}), 0),
            "-nic none -rtc base=2024-01-01T00:00:00,clock=vm -icount shift=1,sleep=off -seed 7");
}

TEST(Deterministic, WarnsOfWhatFollowsTheHost) {
  (void)deterministic(parse({"-nic", "user"}), 1);
  (void)deterministic(parse({"-nodefaults", "disk.img"}), 1);
  (void)deterministic(parse({"-nodefaults", "-drive", "file=x"}), 1);
  (void)deterministic(parse({"-nodefaults", "-serial", "mon:stdio"}), 1);
  for (const char* smp : {"2", "cpus=2", "1,maxcpus=4", "sockets=1,cores=2"})
    EXPECT_TRUE(deterministic(parse({"-nodefaults", "-smp", smp}), 0).starts_with("error")) << smp;
  (void)deterministic(parse({"-nodefaults", "-object", "rng-random,id=a"}), 1);
}

TEST(Deterministic, ARunFollowsTheHostWhereARepetitionMayDiffer) {
  const auto follows_host = [](std::initializer_list<std::string> words) {
    QemuCommand command = parse(words);
    return make_deterministic(command, "tcg", 7)->follows_host;
  };
  EXPECT_FALSE(follows_host({"-nodefaults"}));
  EXPECT_FALSE(follows_host({"-m", "1G"}));  // the missing network card is only reported
  EXPECT_TRUE(follows_host({"-nic", "user"}));
  EXPECT_TRUE(follows_host({"-nodefaults", "-serial", "stdio"}));
  EXPECT_TRUE(follows_host({"-icount", "shift=1,rr=replay,rrfile=r"}));
}

TEST(Deterministic, LeavesARecordedRunAsItIs) {
  const std::string replay = "-drive file=x -icount shift=3,rr=replay,rrfile=r";
  EXPECT_EQ(deterministic(parse({"-drive", "file=x", "-icount", "shift=3,rr=replay,rrfile=r"}), 0),
            replay);
  EXPECT_EQ(deterministic(parse({"-icount", "3,rr=replay,rrfile=r"}), 0),
            "-icount 3,rr=replay,rrfile=r");
  EXPECT_EQ(deterministic(parse({"-icount", "rrfile=r,rr=record"}), 1),
            "-icount shift=1,rrfile=r,rr=record");
  EXPECT_EQ(deterministic(parse({"-icount", "shift=auto,rr=replay,rrfile=r"}), 1),
            "-icount shift=auto,rr=replay,rrfile=r");
  EXPECT_TRUE(
      deterministic(parse({"-smp", "2", "-icount", "shift=1,rr=replay"}), 0).starts_with("error"));
}

TEST(Deterministic, RefusesAnotherClock) {
  auto kvm = parse({});
  EXPECT_FALSE(make_deterministic(kvm, "kvm", 1));
  EXPECT_TRUE(deterministic(parse({"-icount", "auto"}), 0).starts_with("error"));
  EXPECT_TRUE(deterministic(parse({"-icount", "shift=auto,sleep=off"}), 0).starts_with("error"));
  EXPECT_TRUE(deterministic(parse({"-accel", "tcg,thread=multi"}), 0).starts_with("error"));
}

}  // namespace
}  // namespace ringside::launch
