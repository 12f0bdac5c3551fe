#include "session/image_symbols.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "guestos/emerald/guest_program.h"
#include "session/kernel_search.h"
#include "symbols/linux_image/open_kernel.h"
#include "symbols/nm/kernel_symbols.h"

namespace ringside::session {
namespace {

constexpr std::uint32_t kUnseenKernel = ~std::uint32_t{0};  // no recorded image's id

}  // namespace

void ImageSymbols::name(const profile::FrameToName& what, profile::NamedFrame& out) {
  const recording::ImageInfo* const image = image_of(what);
  if (image == nullptr) return;
  Loaded& symbolizer = load(*image);
  if (!symbolizer) return;
  const auto moved = biases_.find(image->id);
  const std::uint64_t bias = moved != biases_.end() ? moved->second : image->load_bias;
  const std::vector<symbols::SourceFrame> frames =
      symbolizer->lookup(ImageAddr{what.frame.lookup_address().value - bias});
  // Innermost first there, outermost first here.
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (frame->function.empty()) continue;
    out.functions.push_back(demangled(frame->function));
    out.lines.push_back({frame->file, frame->line});
  }
}

// Kernel code of a recording that has no kernel belongs to the one that is given.
const recording::ImageInfo* ImageSymbols::image_of(const profile::FrameToName& what) {
  const bool is_kernel =
      what.frame.kind == FrameKind::kKernel || what.frame.kind == FrameKind::kInterrupt;
  if (what.image != nullptr || !is_kernel || options_.kernel_override.empty()) return what.image;
  if (options_.kernel_load_bias) {
    unseen_kernel_.id = kUnseenKernel;
    unseen_kernel_.name = kKernelImage;
    return &unseen_kernel_;
  }
  if (!std::exchange(asked_for_bias_, true))
    warnings_.push_back(fmt::format(
        "the recording has kernel code of no known kernel: to name it by {}, give --load-bias HEX, "
        "where the kernel ran minus where it is linked (0 without KASLR)",
        options_.kernel_override));
  return nullptr;
}

const std::string& ImageSymbols::demangled(const std::string& raw) {
  const auto [name, added] = names_.try_emplace(raw);
  if (added) name->second = symbols::demangle(raw, options_.style);
  return name->second;
}

void ImageSymbols::blob(const recording::Blob& blob) {
  if (blob.kind == recording::kImageFileBlob || blob.kind == recording::kSymbolsBlob)
    stored_[blob.image].assign(blob.content.begin(), blob.content.end());
  if (blob.kind == recording::kNamelessFunctionsBlob)
    nameless_[blob.image].assign(blob.content.begin(), blob.content.end());
}

Result<std::shared_ptr<const elf::ElfFile>> ImageSymbols::open(const recording::ImageInfo& image) {
  const bool overridden = is_overridden(image);
  const std::string& path = overridden ? options_.kernel_override : image.path;
  if (const auto stored = stored_.find(image.id); !overridden && stored != stored_.end())
    return elf::ElfFile::from_bytes(std::move(stored->second), image.name);
  if (path.empty()) return fail(ErrorCode::kNotFound, "image {} has no file", image.name);
  RINGSIDE_ASSIGN(auto file, symbols::open_kernel(path));
  const Bytes build_id = file->build_id();
  if (overridden && image.build_id.empty()) return file;  // find_bias() compares what there is
  if (!std::equal(build_id.begin(), build_id.end(), image.build_id.begin(), image.build_id.end()))
    return fail(ErrorCode::kMismatch,
                "{} is not the file that was recorded: its build id is {}, recorded was another{}",
                path, build_id.empty() ? std::string("missing") : file->build_id_hex(),
                image.name == kKernelImage ? "; give the right one with --kernel" : "");
  return file;
}

bool ImageSymbols::is_overridden(const recording::ImageInfo& image) const {
  return image.name == kKernelImage && !options_.kernel_override.empty();
}

Result<std::uint64_t> ImageSymbols::find_bias(const recording::ImageInfo& image,
                                              const elf::ElfFile& file) const {
  if (options_.kernel_load_bias) return *options_.kernel_load_bias;
  const auto stored = stored_.find(image.id);
  if (stored == stored_.end() || file.symbols().empty()) return image.load_bias;
  RINGSIDE_ASSIGN(const auto running, elf::ElfFile::from_bytes(stored->second, image.name));
  RINGSIDE_ASSIGN(const auto distance, symbols::distance_between(file, *running));
  if (!distance)
    return fail(ErrorCode::kNotFound,
                "where {} ran is not known, for it has no function of the recorded kernel; give "
                "--load-bias HEX, where it ran minus where it is linked",
                file.name());
  return image.load_bias + *distance;
}

std::optional<symbols::SymbolTable> ImageSymbols::given_symbols(const elf::ElfFile* file) {
  symbols::SymbolList list = *options_.kernel_symbols;
  if (file != nullptr)
    if (const auto moved = symbols::move_to(*file, options_.kernel_symbols_name, list); !moved) {
      warnings_.push_back(moved.error().message);
      return std::nullopt;
    }
  return symbols::SymbolTable::from_list(std::move(list));
}

std::vector<std::string> ImageSymbols::warnings() const {
  std::vector<std::string> all = warnings_;
  if (!stripped_.empty())
    all.push_back(
        fmt::format("no symbols for {}: their functions are shown as addresses; install "
                    "their debug symbols, or ask for them with --debuginfod",
                    fmt::join(stripped_, ", ")));
  if (programs_without_file_ != 0)
    all.push_back(
        fmt::format("no file has the .text of {} program{} that the guest ran: functions there are "
                    "shown as addresses; name the files, with symbols, to record --programs",
                    programs_without_file_, programs_without_file_ == 1 ? "" : "s"));
  return all;
}

void ImageSymbols::note_stripped(const recording::ImageInfo& image) {
  if (image.name == guestos::emerald::kUnknownProgram)
    ++programs_without_file_;
  else if (std::find(stripped_.begin(), stripped_.end(), image.name) == stripped_.end())
    stripped_.push_back(image.name);
}

// Where nothing else has a name.
void ImageSymbols::add_nameless(const recording::ImageInfo& image, Loaded& loaded) {
  const auto stored = nameless_.find(image.id);
  if (stored == nameless_.end()) return;
  auto file = elf::ElfFile::from_bytes(std::move(stored->second), image.name);
  if (!file) return;
  if (!loaded) loaded.emplace(std::vector<symbols::SymbolTable>(), nullptr, options_.inlines);
  loaded->set_fallback(symbols::SymbolTable::from_elf(std::move(*file)));
}

ImageSymbols::Loaded& ImageSymbols::load(const recording::ImageInfo& image) {
  const auto [entry, added] = images_.try_emplace(image.id);
  if (!added) return entry->second;
  Loaded& loaded = entry->second;
  auto file = open(image);
  if (file && is_overridden(image)) {
    if (const auto bias = find_bias(image, **file))
      biases_[image.id] = *bias;
    else
      file = tl::unexpected<Error>(bias.error());
  }
  std::optional<symbols::SymbolTable> given;
  if (image.name == kKernelImage && options_.kernel_symbols)
    given = given_symbols(file ? file->get() : nullptr);
  if (file)
    loaded = symbols::open_symbolizer(std::move(*file), options_.files, options_.inlines);
  else if (image.name == guestos::emerald::kUnknownProgram)
    note_stripped(image);
  else
    warnings_.push_back(fmt::format(
        "{} {}: {}",
        given ? "taking " + options_.kernel_symbols_name + " as linked, without" : "no names for",
        image.name, file.error().message));
  if (!file && given)
    loaded.emplace(std::vector<symbols::SymbolTable>(), nullptr, options_.inlines);
  if (given) loaded->put_first(std::move(*given));
  add_nameless(image, loaded);
  if (loaded && loaded->empty()) {
    loaded.reset();
    if (image.name == kKernelImage)
      warnings_.push_back(
          (image.path.empty() ? image.name : image.path) +
          " has no symbols, so its functions are shown as addresses; "
          "build the kernel without stripping it, or give an unstripped file with --kernel or a "
          "System.map with --symbols");
    else
      note_stripped(image);
  }
  return loaded;
}

}  // namespace ringside::session
