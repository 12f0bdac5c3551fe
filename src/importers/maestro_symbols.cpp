#include "importers/maestro_symbols.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "symbols/demangle.h"

namespace ringside::importers {
namespace {

// LLVM marks what it has moved between compilation units.
std::string_view without_llvm_mark(std::string_view name) {
  constexpr std::string_view kMark = ".llvm.";
  const std::size_t at = name.find(kMark);
  if (at == std::string_view::npos) return name;
  const std::string_view rest = name.substr(at + kMark.size());
  return rest.find_first_not_of("0123456789ABCDEF@") == std::string_view::npos ? name.substr(0, at)
                                                                               : name;
}

// A name of Rust's legacy mangling, or of a C++ variable: "_ZN", names behind their lengths, "E".
struct LegacyPath {
  std::size_t end = 0;  // behind it; 0: it is none
  std::string text;     // its names with "::" between them, not decoded
};

LegacyPath read_legacy_path(std::string_view name) {
  LegacyPath path;
  std::size_t at = name.starts_with("_ZN") ? 3 : name.size();
  while (at < name.size() && name[at] >= '1' && name[at] <= '9') {
    std::size_t length = 0;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && length < name.size(); ++at)
      length = length * 10 + static_cast<std::size_t>(name[at] - '0');
    if (length > name.size() - at) return path;
    path.text.append(path.text.empty() ? "" : "::").append(name.substr(at, length));
    at += length;
  }
  if (!path.text.empty() && at < name.size() && name[at] == 'E') path.end = at + 1;
  return path;
}

// Without a hash and without escapes nothing says that it is Rust's; its parts are its name.
bool is_plain(const LegacyPath& path) {
  constexpr std::size_t kHash = 17;  // "h" and 16 digits
  const bool has_hash = path.text.size() > kHash && path.text[path.text.size() - kHash] == 'h' &&
                        path.text.find_first_not_of(
                            "0123456789abcdef", path.text.size() - kHash + 1) == std::string::npos;
  return !has_hash && path.text.find('$') == std::string::npos;
}

std::string rust_name(std::string_view raw) {
  const std::string_view name = without_llvm_mark(raw);
  const LegacyPath path = read_legacy_path(name);
  const std::size_t end = name.starts_with("_R") ? std::min(name.find('.'), name.size()) : path.end;
  const std::string_view suffix = name.substr(end);
  if (end == 0 || (!suffix.empty() && suffix.front() != '.')) return std::string(name);
  if (path.end != 0 && is_plain(path)) return path.text + std::string(suffix);
  return symbols::demangle(name.substr(0, end), symbols::DemangleStyle::kFull).append(suffix);
}

class Names {
 public:
  Names(std::shared_ptr<const elf::ElfFile> file, std::uint64_t load_bias)
      : file_(std::move(file)), load_bias_(load_bias), symbols_(file_->all_symbols()) {
    std::stable_sort(symbols_.begin(), symbols_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.address, a.size) < std::tie(b.address, b.size);
    });
  }

  [[nodiscard]] std::optional<std::string> find(GuestVirt address) const {
    const ImageAddr at{address.value - load_bias_};
    const auto behind =
        std::upper_bound(symbols_.begin(), symbols_.end(), at,
                         [](ImageAddr a, const auto& symbol) { return a < symbol.address; });
    if (behind == symbols_.begin()) return std::nullopt;
    const elf::TableSymbol& symbol = *std::prev(behind);
    if (at >= symbol.address + symbol.size) return std::nullopt;
    return rust_name(symbol.name);
  }

 private:
  std::shared_ptr<const elf::ElfFile> file_;
  std::uint64_t load_bias_;
  std::vector<elf::TableSymbol> symbols_;
};

}  // namespace

std::function<std::optional<std::string>(GuestVirt)> maestro_names(
    std::shared_ptr<const elf::ElfFile> file, std::uint64_t load_bias) {
  const auto names = std::make_shared<const Names>(std::move(file), load_bias);
  return [names](GuestVirt address) { return names->find(address); };
}

}  // namespace ringside::importers
