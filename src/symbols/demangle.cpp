#include "symbols/demangle.h"

// Else libiberty declares basename(), otherwise than <cstring> does.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <cstdlib>
#include <memory>

#include "symbols/asterinas_name.h"
#include "symbols/shorten.h"

namespace ringside::symbols {
namespace {

constexpr std::size_t kMaxMangled = 8192;  // longer ones exist, and nobody reads them

struct Split {
  std::string_view mangled;
  std::string_view suffix;  // with its dot
};

bool is_hash(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Rust's legacy mangling ends in a hash as its last path element: "17h" and 16 hex digits, then
// "E".
std::size_t legacy_rust_end(std::string_view raw) {
  if (!raw.starts_with("_ZN")) return std::string_view::npos;
  for (std::size_t at = raw.find("17h"); at != std::string_view::npos; at = raw.find("17h", at + 1))
    if (is_hash(raw.substr(at + 3, 16)) && raw.substr(at + 19).starts_with('E')) return at + 20;
  return std::string_view::npos;
}

// Detects legacy Rust without its hash, which some tools cut off: only the escapes distinguish it
// from C++.
bool is_rust_without_hash(std::string_view raw) {
  if (!raw.starts_with("_ZN") || !raw.ends_with('E')) return false;
  for (const char* escape : {"$LT$", "$GT$", "$RF$", "$BP$", "$LP$", "$RP$", "$C$", "$SP$", "$u"})
    if (raw.find(escape) != std::string_view::npos) return true;
  return false;
}

// Mangled names hold no dots, but legacy Rust's do (".." is its "::" in an impl).
Split split_suffix(std::string_view raw) {
  const std::size_t rust_end = legacy_rust_end(raw);
  const std::size_t dot = rust_end == std::string_view::npos ? raw.find('.') : rust_end;
  if (dot >= raw.size()) return {raw, {}};
  return {raw.substr(0, dot), raw.substr(dot)};
}

// libiberty takes legacy names for Rust's only with a hash, and does not show it.
std::string with_hash(std::string_view raw) {
  return std::string(raw.substr(0, raw.size() - 1)) + "17h0123456789abcdefE";
}

std::string take(char* text) {
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

std::string demangle(std::string_view raw, DemangleStyle style) {
  const bool rust_v0 = raw.starts_with("_R");
  if (style == DemangleStyle::kNone || raw.size() > kMaxMangled ||
      (!rust_v0 && !raw.starts_with("_Z")))
    return std::string(raw);
  const bool rust_hash = legacy_rust_end(raw) != std::string_view::npos;
  const bool no_hash = !rust_hash && is_rust_without_hash(raw);
  const Split split = no_hash ? Split{raw, {}} : split_suffix(raw);
  const std::string mangled = no_hash ? with_hash(raw) : std::string(split.mangled);
  const bool rust = rust_v0 || rust_hash || no_hash;
  const bool brief = style == DemangleStyle::kShort;
  // A template's return type stands in front of its name where its parameters stand behind it.
  const bool types = !brief && style != DemangleStyle::kAsterinas;
  const bool hashes = style == DemangleStyle::kVerbose && !no_hash;
  std::string name =
      rust ? take(rust_demangle(mangled.c_str(), hashes ? DMGL_VERBOSE : 0))
           : take(cplus_demangle_v3(mangled.c_str(), types ? DMGL_PARAMS | DMGL_ANSI : 0));
  if (name.empty()) return std::string(raw);
  if (style == DemangleStyle::kAsterinas) return asterinas_name(name);
  if (brief) name = shorten(name);
  if (split.suffix.empty()) return name;
  return brief ? name.append(split.suffix)
               : name.append(" [clone ").append(split.suffix).append("]");
}

}  // namespace ringside::symbols
