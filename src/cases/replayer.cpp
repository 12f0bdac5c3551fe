#include "cases/replayer.h"

namespace ringside::cases {

Replayer::Replayer(const elf::ImageMap& images, std::vector<unwind::TrapFrameLayout> entries,
                   unwind::TableUse tables)
    : images_(images), unwinder_(images, {.entries = std::move(entries), .tables = tables}) {}

ExpectedStack Replayer::replay(const wire::Capture& capture) {
  return describe(unwinder_.unwind(capture), [this](GuestVirt at) { return name_of(at); });
}

std::string Replayer::name_of(GuestVirt at) {
  const elf::Image* image = images_.find_code(at);
  if (image == nullptr) return "?";
  auto table = tables_.find(image);
  if (table == tables_.end())
    table = tables_.emplace(image, symbols::SymbolTable::from_elf(image->file)).first;
  const auto symbol = table->second.find(image->to_image(at));
  return symbol ? std::string(symbol->raw) : "?";
}

}  // namespace ringside::cases
