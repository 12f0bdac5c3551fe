#include "naming/given_kernel.h"

#include <algorithm>

#include "elf/image_map.h"
#include "naming/code_match.h"
#include "symbols/linux_image/open_kernel.h"
#include "symbols/nm/kernel_symbols.h"

namespace ringside::naming {
namespace {

constexpr std::uint32_t kUnseenKernel = ~std::uint32_t{0};  // no recorded image's id

}  // namespace

void push_once(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

bool GivenKernel::is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!has_file() || options_.load_bias ||
      std::filesystem::absolute(options_.file, ignored) != path)
    return false;
  used_ = true;
  return true;
}

const recording::ImageInfo* GivenKernel::unseen(GuestVirt at) {
  unseen_.id = kUnseenKernel;
  unseen_.name = elf::kKernelImage;
  if (options_.load_bias || !has_file()) return &unseen_;
  used_ = true;
  // Why one cannot be opened is found when it is loaded.
  const auto file = open();
  if (!file) return &unseen_;
  if ((*file)->is_code({at.value})) {
    is_unchecked_ = true;
    return &unseen_;
  }
  lies_elsewhere_ = true;
  return nullptr;
}

const recording::ImageInfo* GivenKernel::unseen_in_firmwares_mode(GuestVirt at) {
  if (!has_file()) return nullptr;
  const bool was_used = used_;
  const auto file = open();
  used_ = was_used;
  if (!file || !(*file)->is_code({at.value - options_.load_bias.value_or(0)})) return nullptr;
  return unseen(at);
}

Result<std::shared_ptr<const elf::ElfFile>> GivenKernel::open() {
  used_ = true;
  if (!file_) {
    RINGSIDE_ASSIGN(file_, symbols::open_kernel(options_.file));
  }
  return file_;
}

Result<std::uint64_t> GivenKernel::bias_of(const recording::ImageInfo& image,
                                           const elf::ElfFile* running) {
  if (options_.load_bias) return *options_.load_bias;
  RINGSIDE_ASSIGN(const auto file, open());
  if (running == nullptr) return image.load_bias;
  const bool is_code = running->symbols().empty();
  if (file->symbols().empty() && !is_code) return image.load_bias;
  std::optional<std::uint64_t> distance;
  if (is_code) {
    distance = distance_by_code(*file, *running);
  } else {
    RINGSIDE_ASSIGN(distance, symbols::distance_between(*file, *running));
  }
  if (!distance)
    return fail(ErrorCode::kNotFound,
                "{} has no {} of the recorded kernel: give the file of that build with --kernel, "
                "or --load-bias HEX, where it ran minus where it is linked",
                file->name(), is_code ? "code" : "function");
  return image.load_bias + *distance;
}

std::optional<symbols::SymbolTable> GivenKernel::symbols_for(const elf::ElfFile* file) {
  if (!options_.symbols) return std::nullopt;
  used_ = true;
  symbols::SymbolList list = *options_.symbols;
  if (file != nullptr)
    if (const auto moved = symbols::move_to(*file, options_.symbols_name, list); !moved) {
      push_once(misfits_, moved.error().message);
      return std::nullopt;
    }
  return symbols::SymbolTable::from_list(std::move(list));
}

void GivenKernel::add_facts(findings::NameFacts& facts) const {
  facts.given_kernel = options_.file;
  if (has_symbols()) facts.given_symbols = options_.symbols_name;
  facts.given_was_used = used_;
  facts.given_is_unchecked = is_unchecked_;
  facts.given_lies_elsewhere = lies_elsewhere_;
  facts.misfits = misfits_;
}

}  // namespace ringside::naming
