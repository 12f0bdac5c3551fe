#include "naming/image_symbols.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "elf/code_hash.h"
#include "elf/image_map.h"
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

// Kernel code of a recording that has no kernel belongs to the one that is given.
const recording::ImageInfo* ImageSymbols::image_of(const profile::FrameToName& what) {
  const bool is_given = given_.has_file() || given_.has_symbols();
  if (what.image != nullptr || !is_kernel(what.frame.kind) || !is_given) return what.image;
  return given_.unseen(what.frame.lookup_address());
}

const std::string& ImageSymbols::demangled(const std::string& raw) {
  const auto [name, added] = names_.try_emplace(raw);
  if (added) name->second = symbols::demangle(raw, options_.style);
  return name->second;
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
  if (image.path.empty()) return fail(ErrorCode::kNotFound, "image {} has no file", image.name);
  RINGSIDE_ASSIGN(auto file, symbols::open_kernel(image.path));
  RINGSIDE_TRY(check_difference(image, *file));
  if (image.build_id.empty() && image.code_hash == 0)
    warnings_.push_back(
        fmt::format("nothing shows that {} is the file that was recorded: names are wrong if it "
                    "was built again",
                    image.path));
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
  if (!file->symbols().empty())
    warnings_.push_back(fmt::format(
        "{}: {}. Its functions have the names that the recording keeps, without inlined functions "
        "and source lines",
        image.name, why.message));
  return file;
}

std::vector<std::string> ImageSymbols::warnings() const {
  std::vector<std::string> all = given_.warnings();
  all.insert(all.end(), warnings_.begin(), warnings_.end());
  if (!given_names_) all.insert(all.end(), other_kernels_.begin(), other_kernels_.end());
  if (has_unnamed_code_ && !has_named_kernel_)
    all.push_back(
        given_.has_file()
            ? fmt::format("{} is not the kernel that was recorded: its code is not what ran. Give "
                          "the right one with --kernel; if this is it, give --load-bias HEX, where "
                          "it ran minus where it is linked",
                          given_.path())
            : std::string("the kernel's functions are shown as addresses: record did not find its "
                          "file. Give its ELF file with --kernel"));
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

void ImageSymbols::note_nameless(const recording::ImageInfo& image) {
  if (image.name != elf::kKernelImage) return note_stripped(image);
  warnings_.push_back(
      (image.path.empty() ? image.name : image.path) +
      " has no symbols, so its functions are shown as addresses; build the kernel without "
      "stripping "
      "it, or give an unstripped file with --kernel or a System.map with --symbols");
}

void ImageSymbols::note_stripped(const recording::ImageInfo& image) {
  if (image.name == elf::kUnknownProgram)
    ++programs_without_file_;
  else if (std::find(stripped_.begin(), stripped_.end(), image.name) == stripped_.end())
    stripped_.push_back(image.name);
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
  const OpenFile stored = take_stored(image);
  // Memory around where a kernel of no known file ran: its addresses are those in the guest.
  const bool is_code = is_kernel && stored && *stored && (*stored)->symbols().empty();
  // The given file is where the recorded symbols are from: they are what it would give.
  const bool is_stored = stored && *stored && !image.path.empty() && given_.is_file(image.path);
  const bool takes_given = is_kernel && given_.has_file() && !is_stored;
  auto file = takes_given ? open_given(image, stored) : open(image, stored);
  given_names_ |= takes_given && file;
  sources_[image.id] = takes_given && file ? given_.path() : image.path;
  if (takes_given && !file && !is_code && !image.path.empty()) {
    // A boot loader, for one: the given file names what that has loaded.
    if (auto own = open(image, stored)) {
      other_kernels_.push_back(
          fmt::format("{}. Code of {} has the names of that", file.error().message, image.path));
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
    warnings_.push_back(fmt::format(
        "{} {}: {}",
        given ? "taking " + given_.symbols_name() + " as linked, without" : "no names for",
        image.name, file.error().message));
  }
  if (!loaded && given)
    loaded.emplace(std::vector<symbols::SymbolTable>(), nullptr, options_.inlines);
  if (given) loaded->put_first(std::move(*given));
  if (given) sources_[image.id] = given_.symbols_name();
  if (loaded && options_.beyond_sizes) loaded->accept_beyond_sizes();
  add_nameless(image, loaded);
  if (loaded && loaded->empty()) {
    loaded.reset();
    if (!is_code) note_nameless(image);
  }
  has_named_kernel_ |= is_kernel && loaded.has_value();
  has_unnamed_code_ |= is_code && !loaded;
  return loaded;
}

}  // namespace ringside::naming
