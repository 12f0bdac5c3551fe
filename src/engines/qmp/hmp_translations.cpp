#include "engines/qmp/hmp_translations.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>

#include "engines/qmp/hmp_memory.h"

namespace ringside::engines::qmp {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kPagesAhead = 64;

}  // namespace

Result<memory::PageWalk> HmpTranslations::walk(PhysicalMemory& /*physical*/,
                                               GuestVirt address) const {
  const std::uint64_t number = address.value / kPage;
  const std::uint64_t within = address.value % kPage;
  if (number - first_ >= pages_.size()) {
    const bool follows = !pages_.empty() && number - first_ == pages_.size();
    RINGSIDE_TRY(ask(number, follows ? kPagesAhead : 1));
  }
  const auto page = pages_[number - first_];
  memory::PageWalk walk;
  walk.bytes = kPage - within;
  walk.end = page ? memory::WalkEnd::kMapped : memory::WalkEnd::kNotPresent;
  if (page) walk.address = *page + within;
  return walk;
}

Result<void> HmpTranslations::ask(std::uint64_t first, std::size_t count) const {
  pages_.clear();
  Requests requests;
  for (std::size_t n = 0; n < count; ++n)
    requests.add_human(fmt::format("gva2gpa {:#x}", (first + n) * kPage), vcpu_);
  RINGSIDE_ASSIGN(const auto answers, monitor_.exchange(requests));
  first_ = first;
  for (const auto& answer : answers) pages_.push_back(parse_translation(text_of(answer)));
  return {};
}

}  // namespace ringside::engines::qmp
