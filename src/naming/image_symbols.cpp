#include "naming/image_symbols.h"

#include <algorithm>
#include <utility>

#include "elf/code_hash.h"
#include "elf/image_map.h"
#include "findings/findings.h"
#include "kernel_image/open_elf.h"
#include "symbols/linux_image/open_kernel.h"

namespace ringside::naming {
namespace {

// Why `file` is not the recorded one; empty where nothing says that.
std::string difference_of(const recording::ImageInfo& image, const elf::ElfFile& file) {
  const Bytes build_id = file.build_id();
  if (!image.build_id.empty()) {
    const bool same =
        std::equal(build_id.begin(), build_id.end(), image.build_id.begin(), image.build_id.end());
    if (same) return {};
    return build_id.empty() ? std::string("it has no build id, and the recorded file has one")
                            : fmt::format("its build id is {}, and the recorded file has another",
                                          file.build_id_hex());
  }
  const bool is_other = image.code_hash != 0 && elf::code_hash(file) != image.code_hash;
  return is_other ? "its code differs from the recorded file's" : "";
}

Result<void> check_difference(const recording::ImageInfo& image, const elf::ElfFile& file) {
  const std::string difference = difference_of(image, file);
  if (difference.empty()) return {};
  return fail(ErrorCode::kMismatch, "{} is not the file that was recorded: {}{}", file.name(),
              difference,
              image.name == elf::kKernelImage ? "; give the right one with --kernel" : "");
}

tl::unexpected<Error> no_file(const recording::ImageInfo& image) {
  constexpr std::string_view kJit = "[JIT] tid ";
  if (!image.name.starts_with(kJit))
    return fail(ErrorCode::kNotFound, "image {} has no file", image.name);
  return fail(ErrorCode::kNotFound,
              "image {} has no file, for the program made this code while it ran; names come from "
              "/tmp/perf-{}.map, or are in the perf.data that 'perf inject --jit' writes",
              image.name, image.name.substr(kJit.size()));
}

}  // namespace

void ImageSymbols::name(const profile::FrameToName& what, profile::NamedFrame& out) {
  const recording::ImageInfo* const image = image_of(what);
  if (image == nullptr) return;
  Loaded& symbolizer = load(*image);
  if (!symbolizer) return;
  const std::uint64_t bias = bias_of(*image);
  const std::vector<symbols::SourceFrame> frames =
      symbolizer->lookup(ImageAddr{what.frame.lookup_address().value - bias});
  out.file = sources_[image->id];
  // Innermost first there, outermost first here.
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (frame->function.empty()) continue;
    out.functions.push_back(demangled(frame->function));
    out.lines.push_back({frame->file, frame->line});
    if (frame->size == 0) continue;
    out.start = GuestVirt{frame->start.value + bias};
    out.size = frame->size;
  }
}

std::optional<ImageSymbols::CodeFile> ImageSymbols::code_file(const profile::FrameToName& what) {
  const recording::ImageInfo* const image = image_of(what);
  if (image == nullptr) return std::nullopt;
  static_cast<void>(load(*image));
  const auto file = files_.find(image->id);
  if (file == files_.end()) return std::nullopt;
  const std::uint64_t bias = bias_of(*image);
  if (!file->second->bytes_at({what.frame.address.value - bias}, 1).empty() || image->path.empty())
    return CodeFile{file->second, bias};
  // The recording keeps the names of a kernel that was unpacked, and its code is in its own file.
  const auto [unpacked, added] = unpacked_.try_emplace(image->id);
  if (added)
    if (const auto opened = symbols::open_kernel(image->path);
        opened && check_difference(*image, **opened))
      unpacked->second = *opened;
  return CodeFile{unpacked->second ? unpacked->second : file->second, bias};
}

std::uint64_t ImageSymbols::bias_of(const recording::ImageInfo& image) const {
  const auto moved = biases_.find(image.id);
  return moved != biases_.end() ? moved->second : image.load_bias;
}

// How far the given kernel ran from where it is linked, if it is shown to be that image.
std::optional<std::uint64_t> ImageSymbols::bias_of_given(const recording::ImageInfo& image) {
  if (!image.path.empty() && given_.is_file(image.path)) return image.load_bias;
  const auto file = given_.open();
  if (!file || !check_difference(image, **file)) return std::nullopt;
  const OpenFile& stored = stored_file(image);
  const bool is_stored = stored && *stored;
  if (image.build_id.empty() && image.code_hash == 0 && !is_stored) return std::nullopt;
  const auto bias = given_.bias_of(image, is_stored ? stored->get() : nullptr);
  return bias ? std::optional(*bias) : std::nullopt;
}

// Where the given kernel is one of those that were recorded, its place is known.
const ImageSymbols::Placed& ImageSymbols::placed_given() {
  if (placed_) return *placed_;
  placed_ = Placed{nullptr, 0};
  for (const auto& [id, image] : kernels_) {
    const auto bias = bias_of_given(image);
    if (!bias) continue;
    placed_ = Placed{&image, *bias};
    break;
  }
  return *placed_;
}

// Kernel code of a recording that has no kernel belongs to the one that is given, and so does code
// of that kernel which the recording does not hold.
const recording::ImageInfo* ImageSymbols::image_of(const profile::FrameToName& what) {
  const bool is_given = given_.has_file() || given_.has_symbols();
  if (what.image == nullptr && what.frame.kind == FrameKind::kFirmware)
    return kernels_.empty() ? given_.unseen_in_firmwares_mode(what.frame.lookup_address())
                            : nullptr;
  if (what.image != nullptr || !is_kernel(what.frame.kind) || !is_given) return what.image;
  const GuestVirt at = what.frame.lookup_address();
  if (!given_.has_file() || given_.has_load_bias()) return given_.unseen(at);
  const Placed& placed = placed_given();
  if (placed.image == nullptr) return given_.unseen(at);
  const auto file = given_.open();
  return file && (*file)->is_code({at.value - placed.bias}) ? placed.image : nullptr;
}

const std::string& ImageSymbols::demangled(const std::string& raw) {
  const auto [name, added] = names_.try_emplace(raw);
  if (added) name->second = symbols::demangle(raw, options_.style);
  return name->second;
}

void ImageSymbols::image(const recording::ImageInfo& image) {
  if (image.name == elf::kKernelImage) kernels_[image.id] = image;
}

void ImageSymbols::blob(const recording::Blob& blob) {
  if (blob.kind == recording::kImageFileBlob || blob.kind == recording::kSymbolsBlob)
    stored_[blob.image].assign(blob.content.begin(), blob.content.end());
  if (blob.kind == recording::kKeptSymbolsBlob)
    kept_[blob.image].assign(blob.content.begin(), blob.content.end());
  if (blob.kind == recording::kSynthesizedSymbolsBlob)
    nameless_[blob.image].assign(blob.content.begin(), blob.content.end());
}

void ImageSymbols::function(const recording::ImageFunction& function) {
  Functions& functions = functions_[function.image];
  functions.list.push_back({function.address, function.size, function.name});
  functions.in_file = function.in_file;
}

ImageSymbols::OpenFile ImageSymbols::named_functions(const recording::ImageInfo& image,
                                                     bool in_file) const {
  const auto found = functions_.find(image.id);
  if (found == functions_.end() || found->second.in_file != in_file) return nullptr;
  return elf::ElfFile::from_bytes(
      symbols::make_symbol_file(image.arch, image.build_id, found->second.list), image.name);
}

ImageSymbols::OpenFile ImageSymbols::open(const recording::ImageInfo& image,
                                          const OpenFile& stored) {
  if (!stored || *stored) return stored;
  if (image.path.empty()) return no_file(image);
  RINGSIDE_ASSIGN(auto file, symbols::open_kernel(image.path));
  RINGSIDE_TRY(check_difference(image, *file));
  if (image.build_id.empty() && image.code_hash == 0) push_once(facts_.unproven_files, image.path);
  return file;
}

ImageSymbols::OpenFile ImageSymbols::open_given(const recording::ImageInfo& image,
                                                const OpenFile& stored) {
  RINGSIDE_ASSIGN(auto file, given_.open());
  RINGSIDE_TRY(check_difference(image, *file));
  RINGSIDE_ASSIGN(biases_[image.id], given_.bias_of(image, stored ? stored->get() : nullptr));
  return file;
}

ImageSymbols::OpenFile ImageSymbols::open_kept(const recording::ImageInfo& image,
                                               const Error& why) {
  const auto kept = kept_.find(image.id);
  RINGSIDE_ASSIGN(ElfPointer file, kept == kept_.end() ? named_functions(image, true)
                                                       : kernel_image::elf_from_bytes(
                                                             std::move(kept->second), image.name));
  if (!file) return tl::unexpected<Error>(why);
  if (!file->symbols().empty()) facts_.missing.push_back({image.name, why.message, {}, true});
  return file;
}

findings::NameFacts ImageSymbols::facts(bool is_filtered) const {
  findings::NameFacts facts = facts_;
  given_.add_facts(facts);
  facts.is_filtered = is_filtered;
  return facts;
}

std::vector<std::string> ImageSymbols::warnings(bool is_filtered) const {
  return findings::sentences(findings::of_names(), facts(is_filtered));
}

void ImageSymbols::note_nameless(const recording::ImageInfo& image, bool is_given) {
  if (image.name != elf::kKernelImage) return note_stripped(image);
  const std::string& file = is_given ? given_.path() : image.path;
  push_once(facts_.nameless_kernels, file.empty() ? image.name : file);
}

void ImageSymbols::note_stripped(const recording::ImageInfo& image) {
  if (image.name == elf::kUnknownProgram)
    ++facts_.programs_without_file;
  else
    push_once(facts_.nameless_images, image.name);
}

// Where nothing else has a name.
void ImageSymbols::add_nameless(const recording::ImageInfo& image, Loaded& loaded) {
  const auto stored = nameless_.find(image.id);
  if (stored == nameless_.end()) return;
  auto file = kernel_image::elf_from_bytes(std::move(stored->second), image.name);
  if (!file) return;
  if (!loaded) loaded.emplace(std::vector<symbols::SymbolTable>(), nullptr, options_.inlines);
  loaded->set_fallback(symbols::SymbolTable::from_elf(std::move(*file)));
}

const ImageSymbols::OpenFile& ImageSymbols::stored_file(const recording::ImageInfo& image) {
  const auto [file, added] = stored_files_.try_emplace(image.id);
  if (added) file->second = take_stored(image);
  return file->second;
}

ImageSymbols::OpenFile ImageSymbols::take_stored(const recording::ImageInfo& image) {
  const auto stored = stored_.find(image.id);
  if (stored == stored_.end()) return named_functions(image, false);
  return kernel_image::elf_from_bytes(std::move(stored->second), image.name);
}

ImageSymbols::Loaded& ImageSymbols::load(const recording::ImageInfo& image) {
  const auto [entry, added] = images_.try_emplace(image.id);
  if (!added) return entry->second;
  Loaded& loaded = entry->second;
  const bool is_kernel = image.name == elf::kKernelImage;
  const OpenFile stored = stored_file(image);
  // Memory around where a kernel of no known file ran: its addresses are those in the guest.
  const bool is_code = is_kernel && stored && *stored && (*stored)->symbols().empty();
  // The given file is where the recorded symbols are from: they are what it would give.
  const bool is_stored = stored && *stored && !image.path.empty() && given_.is_file(image.path);
  const bool takes_given = is_kernel && given_.has_file() && !is_stored;
  auto file = takes_given ? open_given(image, stored) : open(image, stored);
  const bool is_given = takes_given && file;
  facts_.given_names_a_kernel |= is_given || is_stored;
  sources_[image.id] = is_given ? given_.path() : image.path;
  if (takes_given && !file && !is_code && !image.path.empty()) {
    // A boot loader, for one: the given file names what that has loaded.
    if (auto own = open(image, stored)) {
      facts_.other_kernels.push_back({file.error().message, image.path});
      file = std::move(own);
    }
  }
  if (!file && !is_code) file = open_kept(image, file.error());
  std::optional<symbols::SymbolTable> given;
  if (is_kernel) given = given_.symbols_for(file && !is_code ? file->get() : nullptr);
  if (file) {
    files_[image.id] = *file;
    loaded = symbols::open_symbolizer(*file, options_.files, options_.inlines);
  } else if (image.name == elf::kUnknownProgram) {
    note_stripped(image);
  } else if (!is_code && !(given && image.path.empty())) {
    facts_.missing.push_back(
        {image.name, file.error().message, given ? given_.symbols_name() : std::string(), false});
  }
  if (!loaded && given)
    loaded.emplace(std::vector<symbols::SymbolTable>(), nullptr, options_.inlines);
  if (given) loaded->put_first(std::move(*given));
  if (given) {
    std::string& source = sources_[image.id];
    source = given_.symbols_name() + (source.empty() ? "" : " and " + source);
  }
  if (loaded && options_.beyond_sizes) loaded->accept_beyond_sizes();
  add_nameless(image, loaded);
  if (loaded && loaded->empty()) {
    loaded.reset();
    if (!is_code || is_given) note_nameless(image, is_given);
  }
  facts_.has_named_kernel |= is_kernel && loaded.has_value();
  facts_.has_unnamed_code |= is_code && !loaded;
  return loaded;
}

}  // namespace ringside::naming
