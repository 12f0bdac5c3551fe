#include "importers/perf_data/kernel_names.h"

#include <algorithm>
#include <utility>

#include "base/read_text.h"
#include "symbols/nm/nm_text.h"

namespace ringside::importers::perf_data {
namespace {

constexpr std::uint64_t kX86LinkAddress = 0xffffffff81000000;  // _text, arch/x86/Kconfig
constexpr std::size_t kAtOnce = 64;                            // functions
constexpr const char* kOwnKallsyms = "/proc/kallsyms";

bool is_running_kernel(const RunningKernel& kernel, const Features& features,
                       const ImageFiles& files) {
  if (kernel.is_guest) return false;
  if (kernel.build_id.empty()) return files.is_same_machine() && !features.host.empty();
  return kernel.build_id == running_kernel_build_id();
}

}  // namespace

KernelNames::KernelNames(const RunningKernel& kernel, const Features& features,
                         const ImageFiles& files) {
  const bool knows_place = !kernel.reference.empty();
  if (features.arch == Arch::kX86_64 && knows_place)
    load_bias_ = kernel.reference_at - kX86LinkAddress;
  file_ = files.kernel(features.release, kernel.build_id);
  if (file_) {
    const auto reference =
        knows_place ? file_->symbol_named(kernel.reference) : std::optional<elf::DataSymbol>();
    load_bias_ = reference ? kernel.reference_at - reference->address.value : 0;
    return;
  }
  if (const auto cached = files.kallsyms(kernel.build_id)) read_list(*cached, kernel, false);
  if (tables_.empty() && is_running_kernel(kernel, features, files))
    read_list(kOwnKallsyms, kernel, true);
}

// Modules stand elsewhere after each boot.
void KernelNames::read_list(const std::string& path, const RunningKernel& kernel, bool is_running) {
  auto list = symbols::parse_nm_text(read_text(path), path);
  if (!list) return;
  if (!kernel.reference.empty()) {
    const auto reference = list->address_of(kernel.reference);
    if (!reference) return;
    shift_ = kernel.reference_at - reference->value;
  }
  // Another boot, or another kernel.
  if (is_running && shift_ != 0 && kernel.build_id.empty()) return;
  std::map<std::string, symbols::SymbolList, std::less<>> by_module;
  for (const symbols::ListedSymbol& symbol : list->symbols) {
    symbols::SymbolList& own = by_module[std::string(symbol.module)];
    own.text = list->text;
    own.symbols.push_back(symbol);
  }
  for (auto& [module, symbols] : by_module) {
    if (!module.empty() && shift_ != 0) continue;
    tables_.emplace(module, symbols::SymbolTable::from_list(std::move(symbols)));
  }
}

std::uint64_t KernelNames::end() const {
  std::uint64_t end = 0;
  if (file_)
    for (const elf::Segment& segment : file_->segments())
      if (segment.executable)
        end = std::max(end, segment.address.value + segment.memory_size + load_bias_);
  const auto table = tables_.find("");
  if (table != tables_.end() && !table->second.empty()) {
    const symbols::Symbol& last = table->second.symbols().back();
    end = last.start.value + last.size + shift_;
  }
  return end;
}

Result<void> KernelNames::record(const symbols::Symbol& symbol, std::uint32_t image,
                                 std::uint64_t load_bias, recording::Writer& writer) {
  if (!recorded_.insert(symbol.start.value).second) return {};
  recording::ImageFunction function;
  function.image = image;
  function.address = ImageAddr{symbol.start.value + shift_ - load_bias};
  function.size = symbol.size;
  function.name = symbol.raw;
  return writer.add_function(function);
}

Result<void> KernelNames::record_some(std::uint32_t image, recording::Writer& writer) {
  const auto table = tables_.find("");
  if (table == tables_.end()) return {};
  const auto& all = table->second.symbols();
  const std::size_t step = std::max<std::size_t>(all.size() / kAtOnce, 1);
  for (std::size_t n = 0; n < all.size(); n += step)
    RINGSIDE_TRY(record(all[n], image, load_bias_, writer));
  return {};
}

Result<void> KernelNames::record(const std::string& module, std::uint64_t address,
                                 std::uint32_t image, std::uint64_t load_bias,
                                 recording::Writer& writer) {
  const auto table = tables_.find(module);
  if (table == tables_.end()) return {};
  const auto symbol = table->second.find(ImageAddr{address - shift_});
  return symbol ? record(*symbol, image, load_bias, writer) : Result<void>();
}

}  // namespace ringside::importers::perf_data
