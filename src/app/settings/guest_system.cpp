#include "app/settings/guest_system.h"

#include <charconv>

namespace ringside::app {
namespace {

Result<std::shared_ptr<const guestos::UserImage>> open_program(const std::string& path) {
  // The recording may be read from another folder.
  std::error_code ignored;
  return guestos::open_program(std::filesystem::absolute(path, ignored));
}

Result<guestos::RootProgram> parse_process(const std::string& text) {
  const auto wrong = [&](const char* why) {
    return fail(ErrorCode::kUsage, "--process {}: {}; give {}, such as 7d3000=init:build/init.elf",
                text, why, kProcessForm);
  };
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return wrong("there is no =");
  const std::size_t colon = text.find(':', equals);
  if (colon == text.npos) return wrong("there is no :");
  std::string_view digits = std::string_view(text).substr(0, equals);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  guestos::RootProgram process;
  const char* const end = digits.data() + digits.size();
  const auto [read_to, error] = std::from_chars(digits.data(), end, process.root, 16);
  if (error != std::errc{} || read_to != end || digits.empty())
    return wrong("the page tables' root is a hexadecimal number");
  const std::string name = text.substr(equals + 1, colon - equals - 1);
  if (name.empty()) return wrong("there is no name");
  RINGSIDE_ASSIGN(const auto file, open_program(text.substr(colon + 1)));
  auto program = std::make_shared<guestos::UserImage>(*file);
  program->name = name;
  process.program = std::move(program);
  return process;
}

}  // namespace

guestos::GuestOs parse_guest_os(std::string_view name) {
  using enum guestos::GuestOs;
  if (name == "linux") return kLinux;
  if (name == "emerald") return kEmerald;
  return name == "none" ? kGeneric : kAuto;
}

Result<guestos::AdapterOptions> GuestSystemSettings::options() const {
  guestos::AdapterOptions options;
  options.os = parse_guest_os(os);
  options.debug_files.debuginfod = debuginfod;
  const bool by_root = !processes.empty() || !user_elf.empty();
  if (by_root && options.os != guestos::GuestOs::kAuto && options.os != guestos::GuestOs::kGeneric)
    return fail(ErrorCode::kUsage,
                "--process and --user-elf are for kernels whose processes ringside does not know: "
                "leave out --os {}",
                os);
  if (by_root && !programs.empty())
    return fail(ErrorCode::kUsage,
                "--programs names processes by the code that they run: leave out --process and "
                "--user-elf, or put their files into that folder");
  if (!programs.empty()) {
    RINGSIDE_ASSIGN(options.programs, guestos::ProgramFiles::open(programs));
  }
  for (const std::string& process : processes) {
    RINGSIDE_ASSIGN(auto parsed, parse_process(process));
    options.processes.push_back(std::move(parsed));
  }
  std::error_code ignored;
  if (!sysroot.empty()) options.sysroot = std::filesystem::absolute(sysroot, ignored);
  if (!user_elf.empty()) {
    RINGSIDE_ASSIGN(options.user_program, open_program(user_elf));
  }
  return options;
}

}  // namespace ringside::app
