#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"
#include "findings/facts.h"
#include "recording/records.h"
#include "symbols/symbol_list.h"
#include "symbols/symbol_table.h"

namespace ringside::naming {

// Adds what is not there yet.
void push_once(std::vector<std::string>& all, const std::string& one);

// Sources of the kernel's names that the reader of a recording gives: a file that stands for the
// image named "kernel", wherever that was recorded from, and symbols that come before the file's.
// Both may be missing.
class GivenKernel {
 public:
  struct Options {
    std::string file;  // a path; may be empty
    // How far the file ran from where it is linked (guest address minus linked address, modulo
    // 2^64). Nothing: as recorded; of a kernel that was read from the guest's memory, where its
    // functions or its code were.
    std::optional<std::uint64_t> load_bias;
    // The kernel's functions from a text (System.map); the name is for warnings.
    std::optional<symbols::SymbolList> symbols;
    std::string symbols_name;
  };
  explicit GivenKernel(Options options) : options_(std::move(options)) {}

  [[nodiscard]] bool has_file() const { return !options_.file.empty(); }
  [[nodiscard]] bool has_load_bias() const { return options_.load_bias.has_value(); }
  [[nodiscard]] bool has_symbols() const { return options_.symbols.has_value(); }
  [[nodiscard]] const std::string& path() const { return options_.file; }
  // Whether that is the given file, at the place where it ran; then it is made use of.
  [[nodiscard]] bool is_file(const std::filesystem::path& path);
  [[nodiscard]] const std::string& symbols_name() const { return options_.symbols_name; }

  // The image of kernel code at `at` in a recording that knows no kernel there; null where the file
  // has no such code.
  [[nodiscard]] const recording::ImageInfo* unseen(GuestVirt at);
  // The same for code in firmware's mode, some of which may be the kernel's: nothing else is used.
  [[nodiscard]] const recording::ImageInfo* unseen_in_firmwares_mode(GuestVirt at);
  // The file; opened once.
  [[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open();
  // The load bias of the file where `image` was recorded. `running`: what the recording holds of
  // it, with functions, code or neither; may be null. kNotFound where the file is another kernel's.
  [[nodiscard]] Result<std::uint64_t> bias_of(const recording::ImageInfo& image,
                                              const elf::ElfFile* running);
  // The symbols at the addresses of `file`, or, if that is null, at their own. Nothing where they
  // do not belong to it, which is a fact.
  [[nodiscard]] std::optional<symbols::SymbolTable> symbols_for(const elf::ElfFile* file);

  // Adds that it is given, and how it was used.
  void add_facts(findings::NameFacts& facts) const;

 private:
  Options options_;
  std::shared_ptr<const elf::ElfFile> file_;
  recording::ImageInfo unseen_;  // of recordings that have no kernel
  bool used_ = false;
  bool is_unchecked_ = false;
  bool lies_elsewhere_ = false;
  std::vector<std::string> misfits_;
};

}  // namespace ringside::naming
