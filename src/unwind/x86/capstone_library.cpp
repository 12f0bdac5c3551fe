#include "unwind/x86/capstone_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>

#include "unwind/x86/decoder.h"

namespace ringside::unwind::x86 {
namespace {

// The release whose header this is compiled with: types differ between releases.
const std::string& library_name() {
  static const std::string name = [] {
    const char* const given = std::getenv("RINGSIDE_LIBCAPSTONE");
    return given != nullptr ? given : fmt::format("libcapstone.so.{}", CS_API_MAJOR);
  }();
  return name;
}

std::atomic<bool> cannot_open = false;

std::optional<CapstoneLibrary> open_library() {
  void* const handle = ::dlopen(library_name().c_str(), RTLD_LAZY | RTLD_LOCAL);
  const auto find = [handle](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    return function != nullptr;
  };
  CapstoneLibrary library;
  if (handle != nullptr && find("cs_open", library.open) && find("cs_close", library.close) &&
      find("cs_option", library.option) && find("cs_malloc", library.make_instruction) &&
      find("cs_free", library.free_instructions) && find("cs_disasm_iter", library.decode) &&
      find("cs_regs_access", library.registers))
    return library;
  cannot_open = true;
  return std::nullopt;
}

}  // namespace

const CapstoneLibrary* CapstoneLibrary::instance() {
  static const std::optional<CapstoneLibrary> library = open_library();
  return library ? &*library : nullptr;
}

std::string decoder_problem() {
  if (!cannot_open) return "";
  return fmt::format(
      "the library {} cannot be opened: callers are missing that the instructions of x86 code "
      "would "
      "give; install the package libcapstone{}",
      library_name(), CS_API_MAJOR);
}

}  // namespace ringside::unwind::x86
