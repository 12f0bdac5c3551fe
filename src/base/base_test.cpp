#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/atomic_file.h"
#include "base/byte_cursor.h"
#include "base/byte_reader.h"
#include "base/file.h"
#include "base/shrunk_files.h"
#include "base/socket.h"
#include "base/split.h"
#include "base/testing/time_limits.h"
#include "base/types.h"

namespace ringside {
namespace {

TEST(ByteReader, ErrorsCarryTheOffset) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.read<std::uint16_t>(), 0x0201);
  const auto missing = reader.read<std::uint32_t>();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kTruncated);
  EXPECT_EQ(missing.error().message, "4 bytes wanted at offset 0x2, 1 are left");
  EXPECT_FALSE(reader.read_c_string());
}

TEST(Leb128, NumbersOfAnyLength) {
  const std::array bytes{std::byte{0xe5}, std::byte{0x8e}, std::byte{0x26}, std::byte{0x7f},
                         std::byte{0x80}, std::byte{0x7f}, std::byte{0x3f}};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.read_uleb(), 624485u);
  EXPECT_EQ(reader.read_sleb(), -1);
  EXPECT_EQ(reader.read_sleb(), -128);
  EXPECT_EQ(reader.read_sleb(), 63);
  EXPECT_TRUE(reader.empty());
  ByteCursor cursor(bytes);
  EXPECT_EQ(cursor.read_uleb(), 624485u);
  EXPECT_EQ(cursor.read_sleb(), -1);
  EXPECT_EQ(cursor.read_sleb(), -128);
  EXPECT_FALSE(cursor.failed());
}

TEST(Leb128, OneThatDoesNotEndAndOneThatIsTooLong) {
  std::vector<std::byte> bytes(9, std::byte{0x80});
  EXPECT_EQ(ByteReader(bytes).read_uleb().error().code, ErrorCode::kTruncated);
  ByteCursor unended(bytes);
  EXPECT_EQ(unended.read_uleb(), 0u);
  EXPECT_TRUE(unended.failed());
  bytes.push_back(std::byte{0x01});
  EXPECT_EQ(ByteReader(bytes).read_uleb(), std::uint64_t{1} << 63);
  bytes.back() = std::byte{0x80};
  bytes.resize(1 << 20, std::byte{0x80});
  EXPECT_EQ(ByteReader(bytes).read_uleb().error().code, ErrorCode::kFormat);
}

TEST(Split, LinesAndWords) {
  std::string_view text = "one\ttwo  three\r\n\nlast";
  std::string_view line = take_line(text);
  EXPECT_EQ(line, "one\ttwo  three");
  EXPECT_EQ(take_word(line), "one\ttwo");
  EXPECT_EQ(take_word(line, " \t"), "three");
  EXPECT_EQ(take_word(line), "");
  EXPECT_EQ(take_line(text), "");
  EXPECT_EQ(take_line(text), "last");
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(split(":a:", ':'), (std::vector<std::string>{"", "a", ""}));
  EXPECT_EQ(split("", ':'), std::vector<std::string>{""});
}

TEST(Address, IsPrintedInHexadecimal) {
  EXPECT_EQ(fmt::format("{}", GuestVirt{0}), "0x0");
  EXPECT_EQ(fmt::format("<{}>", GuestPhys{0xfedc'ba98'7654'3210}), "<0xfedcba9876543210>");
}

TEST(SocketAddress, TakesTheFormsOfQemu) {
  EXPECT_EQ(SocketAddress::parse("unix:/a/b,server=on,wait=off")->path, "/a/b");
  EXPECT_EQ(SocketAddress::parse("unix:/a,,b=c:d e/b,server=on")->path, "/a,b=c:d e/b");
  EXPECT_EQ(SocketAddress::parse("/a,,,server")->path, "/a,");
  EXPECT_EQ(SocketAddress::parse("./gdb.sock")->path, "./gdb.sock");
  EXPECT_EQ(SocketAddress::parse("qmp-socket")->path, "qmp-socket");
  EXPECT_EQ(SocketAddress::parse(":1234")->to_string(), "localhost:1234");
  EXPECT_EQ(SocketAddress::parse("tcp::1234,server,nowait")->to_string(), "localhost:1234");
  EXPECT_EQ(SocketAddress::parse("[::1]:7")->host, "::1");
  EXPECT_FALSE(SocketAddress::parse(""));
  EXPECT_FALSE(SocketAddress::parse("tcp:host:"));
}

class TemporaryFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ringside-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

using MappedFileTest = TemporaryFolder;

TEST_F(MappedFileTest, APipeIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const std::filesystem::path& path : {folder_ / "pipe", std::filesystem::path("/dev/zero")}) {
    const auto file = MappedFile::open(path);
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().message.find("not a regular file"), std::string::npos);
  }
}

TEST_F(MappedFileTest, WhatShrinksIsReadAsZeros) {
  const std::filesystem::path path = folder_ / "kernel";
  ASSERT_TRUE(write_output(path, std::string(20'000, 'x')));
  ASSERT_TRUE(write_output(folder_ / "other", std::string(20'000, 'y')));
  const auto file = MappedFile::open(path);
  const auto other = MappedFile::open(folder_ / "other");
  ASSERT_TRUE(file && other);
  EXPECT_TRUE(take_shrunk_files().empty());
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ((*file)->bytes()[19'999], std::byte{0});
  EXPECT_EQ((*file)->bytes()[0], std::byte{0});
  EXPECT_EQ((*other)->bytes()[19'999], std::byte{'y'});
  EXPECT_EQ(take_shrunk_files(), std::vector<std::string>{path.string()});
  EXPECT_TRUE(take_shrunk_files().empty());
}

TEST_F(MappedFileTest, MoreFilesThanAreWatched) {
  ASSERT_TRUE(write_output(folder_ / "file", "whole"));
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (int i = 0; i < 3000; ++i) {
    auto file = MappedFile::open(folder_ / "file");
    ASSERT_TRUE(file);
    files.push_back(std::move(*file));
  }
  for (const auto& file : files) {
    ASSERT_EQ(file->bytes().size(), 5u);
    EXPECT_EQ(file->bytes()[4], std::byte{'e'});
  }
}

using SocketTest = TemporaryFolder;

// A server that accepts nobody, and whose queue is full.
TEST_F(SocketTest, AFullQueueIsNoConnection) {
  const std::string path = folder_ / "server";
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  const UniqueFd server(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  ASSERT_EQ(::listen(server.get(), 0), 0);
  const SocketAddress address{path, {}, {}};
  std::vector<UniqueFd> clients;
  auto last = connect_to(address, std::chrono::milliseconds(50));
  while (last && clients.size() < 8) {
    clients.push_back(std::move(*last));
    last = connect_to(address, std::chrono::milliseconds(50));
  }
  ASSERT_FALSE(last) << "every one of " << clients.size() << " clients is connected";
  EXPECT_EQ(last.error().code, ErrorCode::kTimeout) << last.error().message;
  std::thread later([&] {
    ::usleep(30'000);
    UniqueFd(::accept(server.get(), nullptr, nullptr)).reset();
  });
  EXPECT_TRUE(connect_to(address, testing::longest_step()));
  later.join();
}

// "1234" stays a port where somebody has put a socket of that name into the working folder.
TEST_F(SocketTest, APortIsNoSocketOfItsName) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  for (const std::string address : {"1234", "localhost:1234"}) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address.copy(name.sun_path, sizeof(name.sun_path) - 1);
    const UniqueFd server(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(::bind(server.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    EXPECT_EQ(SocketAddress::parse(address)->path, "");
    EXPECT_EQ(SocketAddress::parse(address)->to_string(), "localhost:1234");
    for (const std::string& path : {"./" + address, (folder_ / address).string()}) {
      EXPECT_EQ(SocketAddress::parse(path)->path, path);
      EXPECT_EQ(SocketAddress::parse("unix:" + path)->path, path);
    }
    EXPECT_EQ(SocketAddress::parse("unix:" + address)->path, address);
  }
  std::filesystem::current_path(before);
}

TEST_F(SocketTest, ConnectErrorNamesTheSocket) {
  const auto fd = connect_to({(folder_ / "none").string(), {}, {}}, std::chrono::milliseconds(50));
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, ErrorCode::kNotFound);
  EXPECT_NE(fd.error().message.find("none"), std::string::npos);
}

}  // namespace
}  // namespace ringside
