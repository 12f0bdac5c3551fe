#include "importers/perf_script/comments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "base/split.h"

namespace ringside::importers::perf_script {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

template <class T>
T number_in(std::string_view text) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Arch arch_of(std::string_view name) {
  if (name == "x86_64") return Arch::kX86_64;
  if (name == "aarch64") return Arch::kAArch64;
  if (name == "riscv64") return Arch::kRiscv64;
  const bool is_i386 = name.size() == 4 && name.front() == 'i' && name.ends_with("86");
  return is_i386 ? Arch::kI386 : Arch::kUnknown;
}

// "Fri Nov 27 03:10:15 2026".
std::uint64_t wall_time(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  (void)take_word(text);
  const std::string_view month = take_word(text);
  const std::string_view day = take_word(text);
  const std::string_view time = take_word(text);
  const std::string_view year = take_word(text);
  const auto found = std::find(kMonths.begin(), kMonths.end(), month);
  if (found == kMonths.end() || time.size() != 8 || year.size() != 4) return 0;
  std::tm parts{};
  parts.tm_mon = static_cast<int>(found - kMonths.begin());
  parts.tm_mday = number_in<int>(day);
  parts.tm_hour = number_in<int>(time.substr(0, 2));
  parts.tm_min = number_in<int>(time.substr(3, 2));
  parts.tm_sec = number_in<int>(time.substr(6, 2));
  parts.tm_year = number_in<int>(year) - 1900;
  parts.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&parts);
  return seconds <= 0 ? 0 : static_cast<std::uint64_t>(seconds) * kSecond;
}

// "{ sample_period, sample_freq } = 999, …, freq = 1, …".
std::uint64_t interval_of(std::string_view event) {
  constexpr std::string_view kRate = "sample_freq } = ";
  const std::size_t at = event.find(kRate);
  if (at == std::string_view::npos || event.find(", freq = 1") == std::string_view::npos) return 0;
  const auto rate = number_in<std::uint64_t>(event.substr(at + kRate.size()));
  return rate == 0 ? 0 : kSecond / rate;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text))
    words.emplace_back(word);
  return words;
}

}  // namespace

void Comments::take(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !line.starts_with("# ")) return;
  std::string_view name = line.substr(2, colon - 2);
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  std::string_view value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (name == "hostname") host = value;
  if (name == "arch") arch = arch_of(value);
  if (name == "nrcpus online") cpus = number_in<std::uint32_t>(value);
  if (name == "cmdline") command_line = words_of(value);
  if (name == "captured on") wall_ns = wall_time(value);
  if (name == "event" && interval_ns == 0) interval_ns = interval_of(value);
}

}  // namespace ringside::importers::perf_script
