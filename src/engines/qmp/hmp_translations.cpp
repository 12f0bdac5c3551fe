#include "engines/qmp/hmp_translations.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "engines/qmp/hmp_memory.h"

namespace ringside::engines::qmp {

Result<memory::PageWalk> HmpTranslations::walk(PhysicalMemory& /*physical*/,
                                               GuestVirt address) const {
  constexpr std::uint64_t kPage = 4096;
  Requests request;
  request.add_human(fmt::format("gva2gpa {:#x}", address.value), vcpu_);
  RINGSIDE_ASSIGN(const auto answers, monitor_.exchange(request));
  const auto& text = answers.front();
  const auto place = parse_translation(text.is_string() ? text.get<std::string>() : std::string());
  memory::PageWalk walk;
  walk.bytes = kPage - address.value % kPage;
  walk.end = place ? memory::WalkEnd::kMapped : memory::WalkEnd::kNotPresent;
  if (place) walk.address = *place;
  return walk;
}

}  // namespace ringside::engines::qmp
