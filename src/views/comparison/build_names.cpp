#include "views/comparison/build_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "profile/sanitize.h"

namespace ringside::views {
namespace {

constexpr std::string_view kUnknown = "<unknown:";
constexpr std::string_view kKernelImage = "kernel";

// GCC and LLVM add these. A number may stand behind each.
constexpr std::array<std::string_view, 9> kCloneSuffixes = {
    ".constprop",  ".isra", ".part", ".cold",  ".lto_priv",
    ".localalias", ".llvm", ".warm", ".ipa_ra"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// Where the suffix of a clone begins that `name` ends with; npos: there is none.
std::size_t clone_suffix(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  if (end < name.size()) {
    if (end == 0 || name[end - 1] != '.') return std::string_view::npos;
    --end;
  }
  const std::string_view rest = name.substr(0, end);
  for (const std::string_view suffix : kCloneSuffixes)
    if (rest.ends_with(suffix) && rest.size() > suffix.size()) return rest.size() - suffix.size();
  return std::string_view::npos;
}

// Demangled C++ has "f(int) [clone .isra.0]" for "_Z1fi.isra.0".
std::size_t bracketed_suffix(std::string_view name) {
  constexpr std::string_view kClone = " [clone ";
  if (!name.ends_with(']')) return std::string_view::npos;
  const std::size_t at = name.rfind(kClone);
  if (at == std::string_view::npos || at == 0) return std::string_view::npos;
  return clone_suffix(name.substr(0, name.size() - 1)) == std::string_view::npos
             ? std::string_view::npos
             : at;
}

void drop_clone_suffixes(std::string& name) {
  for (;;) {
    std::size_t at = bracketed_suffix(name);
    if (at == std::string::npos) at = clone_suffix(name);
    if (at == std::string::npos) return;
    name.resize(at);
  }
}

bool has_hex(std::string_view text, std::size_t at, std::size_t count) {
  return at + count <= text.size() &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at),
                     text.begin() + static_cast<std::ptrdiff_t>(at + count), is_hex);
}

// Rust's legacy names end in "::h" and 16 digits, or as they stand in the file in "17h…E". Its v0
// names have the hash of each crate in brackets: "core[846817f741e54dfd]::fmt".
void drop_rust_hashes(std::string& name) {
  constexpr std::size_t kDigits = 16;
  constexpr std::string_view kLegacy = "::h";
  constexpr std::string_view kMangled = "17h";
  if (name.size() > kLegacy.size() + kDigits) {
    const std::size_t at = name.size() - kLegacy.size() - kDigits;
    if (name.compare(at, kLegacy.size(), kLegacy) == 0 &&
        has_hex(name, at + kLegacy.size(), kDigits))
      name.resize(at);
  }
  if (name.starts_with("_ZN") && name.size() > kMangled.size() + kDigits + 1) {
    const std::size_t at = name.size() - 1 - kDigits - kMangled.size();
    if (name.back() == 'E' && name.compare(at, kMangled.size(), kMangled) == 0 &&
        has_hex(name, at + kMangled.size(), kDigits))
      name.erase(at, kMangled.size() + kDigits);
  }
  for (std::size_t at = name.find('['); at != std::string::npos; at = name.find('[', at + 1)) {
    std::size_t digits = 0;
    while (has_hex(name, at + 1, digits + 1)) ++digits;
    if (at > 0 && digits >= 8 && digits <= kDigits && at + digits + 1 < name.size() &&
        name[at + digits + 1] == ']')
      name.erase(at--, digits + 2);
  }
}

}  // namespace

std::string name_across_builds(std::string_view name) {
  if (name.starts_with(kUnknown)) return "<unknown>";
  std::string text(name);
  drop_clone_suffixes(text);
  drop_rust_hashes(text);
  return text;
}

std::string image_across_builds(std::string_view image, profile::Kind kind) {
  const bool is_kernels_own = image.starts_with("vmlinux") || image.starts_with("[kernel") ||
                              image.starts_with("[guest.kernel");
  return std::string(is_kernel(kind) && is_kernels_own ? kKernelImage : image);
}

void use_names_across_builds(profile::Profile& profile) {
  std::map<std::pair<profile::StringId, profile::StringId>, profile::FunctionId> first;
  std::vector<profile::FunctionId> same(profile.functions.size());
  for (profile::FunctionId id = 0; id < profile.functions.size(); ++id) {
    profile::Function& function = profile.functions[id];
    function.name = profile.strings.intern(name_across_builds(profile.strings[function.name]));
    same[id] = first.try_emplace({function.name, function.image}, id).first->second;
  }
  for (profile::Frame& frame : profile.frames) frame.function = same[frame.function];
}

}  // namespace ringside::views
