#include "launch/qemu/qemu_command.h"

#include <gtest/gtest.h>

#include "launch/serial_tap.h"

namespace ringside::launch {
namespace {

QemuCommand parse(std::initializer_list<std::string> words) { return QemuCommand(words); }

TEST(QemuCommand, KeepsWordsInOrder) {
  const std::vector<std::string> words = {"-m",       "512",     "-nographic",
                                          "disk.img", "-append", "-s -S"};
  EXPECT_EQ(QemuCommand(words).arguments(), words);
}

TEST(QemuCommand, ValuesAreNotOptions) {
  const auto command = parse({"-append", "-s", "-kernel", "vmlinux", "--smp", "2"});
  EXPECT_FALSE(command.has("s"));
  EXPECT_EQ(command.value_of("kernel"), "vmlinux");
  EXPECT_EQ(command.value_of("smp"), "2");
}

TEST(QemuCommand, FindsTheUsersStub) {
  EXPECT_EQ(*parse({"-s"}).gdb_address(), "tcp::1234");
  EXPECT_EQ(*parse({"-gdb", "unix:/x,server=on"}).gdb_address(), "unix:/x,server=on");
  EXPECT_EQ(*parse({"-m", "1G"}).gdb_address(), std::nullopt);
  EXPECT_FALSE(parse({"-gdb", "stdio"}).gdb_address());
}

TEST(QemuCommand, KnowsWhoHasTheTerminal) {
  EXPECT_TRUE(parse({"-nographic"}).terminal_is_raw());
  EXPECT_TRUE(parse({"-serial", "mon:stdio"}).terminal_is_raw());
  EXPECT_FALSE(parse({"-serial", "stdio"}).terminal_is_raw());
  EXPECT_TRUE(parse({"-serial", "stdio"}).uses_terminal());
  EXPECT_FALSE(parse({"-serial", "file:x"}).uses_terminal());
}

TEST(QemuCommand, DistinguishesQuestionsFromGuests) {
  EXPECT_TRUE(parse({"--version"}).only_prints());
  EXPECT_TRUE(parse({"-machine", "help"}).only_prints());
  EXPECT_TRUE(parse({"-device", "virtio-blk,help"}).only_prints());
  EXPECT_FALSE(parse({"-kernel", "help-me"}).only_prints());
}

TEST(QemuCommand, KnowsWhereNoFirmwareRuns) {
  const auto none = [](Arch arch, std::vector<std::string> arguments) {
    return QemuCommand(std::move(arguments)).has_no_firmware(arch);
  };
  EXPECT_TRUE(none(Arch::kRiscv64, {"-bios", "none", "-kernel", "k"}));
  EXPECT_FALSE(none(Arch::kRiscv64, {"-kernel", "k"}));  // OpenSBI
  EXPECT_FALSE(none(Arch::kRiscv64, {"-bios", "none"}));
  EXPECT_TRUE(none(Arch::kAArch64, {"-M", "virt,secure=on", "-kernel", "k"}));
  EXPECT_FALSE(none(Arch::kAArch64, {"-bios", "QEMU_EFI.fd", "-kernel", "k"}));
  EXPECT_FALSE(none(Arch::kAArch64, {"-drive", "file=f,if=pflash", "-kernel", "k"}));
  EXPECT_FALSE(none(Arch::kX86_64, {"-kernel", "k"}));  // SeaBIOS
}

TEST(QemuCommand, KnowsWhereNoKernelRunsInFirmwaresMode) {
  const auto own = [](Arch arch, std::vector<std::string> arguments) {
    return QemuCommand(std::move(arguments)).has_qemus_firmware(arch);
  };
  EXPECT_TRUE(own(Arch::kRiscv64, {"-M", "virt,aclint=on"}));
  EXPECT_TRUE(own(Arch::kRiscv64, {"-machine", "sifive_u", "-bios", "default", "-kernel", "k"}));
  EXPECT_FALSE(own(Arch::kRiscv64, {"-M", "virt", "-bios", "none", "-kernel", "k"}));
  EXPECT_FALSE(own(Arch::kRiscv64, {"-M", "virt", "-bios", "kernel.bin"}));
  EXPECT_FALSE(own(Arch::kRiscv64, {"-M", "virt", "-drive", "if=pflash,file=f"}));
  EXPECT_FALSE(own(Arch::kRiscv64, {"-M", "virt", "-device", "loader,file=k,cpu-num=0"}));
  EXPECT_FALSE(own(Arch::kRiscv64, {"-M", "microchip-icicle-kit"}));
  EXPECT_FALSE(own(Arch::kX86_64, {"-M", "pc"}));
}

TEST(SerialTap, RewritesEachFormOfThePort) {
  const auto tapped = [](QemuCommand command) {
    const auto log = tap_serial_port(command, "/t/a,b");
    std::string text = log ? log->string() : "error";
    for (const std::string& word : command.arguments()) text += " " + word;
    return text;
  };
  const std::string log = ",logfile=/t/a,,b,logappend=off";
  EXPECT_EQ(tapped(parse({"-serial", "stdio"})),
            "/t/a,b -serial chardev:ringside-serial -chardev stdio,id=ringside-serial" + log);
  EXPECT_EQ(tapped(parse({"-serial", "mon:stdio"})),
            "/t/a,b -serial chardev:ringside-serial -chardev "
            "stdio,id=ringside-serial,mux=on,signal=off" +
                log + " -mon chardev=ringside-serial,mode=readline");
  EXPECT_EQ(tapped(parse({"-nographic"})),
            "/t/a,b -nographic -chardev stdio,id=ringside-serial,mux=on,signal=off" + log +
                " -mon chardev=ringside-serial,mode=readline -serial chardev:ringside-serial");
  EXPECT_EQ(tapped(parse({"-serial", "file:out.txt"})), "out.txt -serial file:out.txt");
  EXPECT_EQ(
      tapped(parse({"-chardev", "null,id=a", "-chardev", "pty,id=b", "-serial", "chardev:b"})),
      "/t/a,b -chardev null,id=a -chardev pty,id=b" + log + " -serial chardev:b");
  EXPECT_TRUE(tapped(parse({"-serial", "none"})).starts_with("error"));
  EXPECT_TRUE(tapped(parse({"-m", "1G"})).starts_with("error"));
}

}  // namespace
}  // namespace ringside::launch
