#include <fmt/core.h>
#include <fmt/ranges.h>

#include "findings/findings.h"

namespace ringside::findings {
namespace {

using Sentences = std::vector<std::string>;

bool gives(const NameFacts& names) {
  return !names.given_kernel.empty() || !names.given_symbols.empty();
}

bool has_unnamed_kernel(const NameFacts& names) {
  return names.has_unnamed_code && !names.has_named_kernel;
}

constexpr Finding<NameFacts> kOfNames[] = {
    {"given-unchecked", [](const NameFacts& names) { return names.given_is_unchecked; },
     [](const NameFacts& names) {
       return Sentences{names.given_kernel +
                        " is used at its link addresses, and is not checked: the recording has no "
                        "code to compare it with"};
     }},
    {"given-elsewhere",
     [](const NameFacts& names) {
       return names.given_lies_elsewhere && !names.given_is_unchecked &&
              !names.given_names_a_kernel;
     },
     [](const NameFacts& names) {
       return Sentences{fmt::format(
           "the recording has kernel code of no known kernel: to name it by {}, give --load-bias "
           "HEX, where the kernel ran minus where it is linked",
           names.given_kernel)};
     }},
    {"given-misfits", [](const NameFacts& names) { return !names.misfits.empty(); },
     [](const NameFacts& names) { return names.misfits; }},
    {"given-unused",
     [](const NameFacts& names) {
       return gives(names) && !names.given_was_used && !names.is_filtered;
     },
     [](const NameFacts& names) {
       return Sentences{fmt::format("{} had no effect: the samples have no kernel code to name",
                                    names.given_kernel.empty() ? "--symbols " + names.given_symbols
                                                               : "--kernel " + names.given_kernel)};
     }},
    {"kernel-nameless", [](const NameFacts& names) { return !names.nameless_kernels.empty(); },
     [](const NameFacts& names) {
       Sentences sentences;
       for (const std::string& file : names.nameless_kernels)
         sentences.push_back(
             file +
             " has no symbols, so its functions are shown as addresses; build the kernel without "
             "stripping it, or give an unstripped file with --kernel or a System.map with "
             "--symbols");
       return sentences;
     }},
    {"file-missing", [](const NameFacts& names) { return !names.missing.empty(); },
     [](const NameFacts& names) {
       Sentences sentences;
       for (const NameFacts::Missing& missing : names.missing) {
         if (missing.has_names)
           sentences.push_back(fmt::format(
               "{}: {}. Its functions have the names that the recording keeps, without inlined "
               "functions and source lines",
               missing.image, missing.why));
         else if (missing.symbols.empty())
           sentences.push_back(fmt::format("no names for {}: {}", missing.image, missing.why));
         else
           sentences.push_back(fmt::format("taking {} as linked, without {}: {}", missing.symbols,
                                           missing.image, missing.why));
       }
       return sentences;
     }},
    {"file-unproven", [](const NameFacts& names) { return !names.unproven_files.empty(); },
     [](const NameFacts& names) {
       Sentences sentences;
       for (const std::string& file : names.unproven_files)
         sentences.push_back(
             fmt::format("nothing shows that {} is the file that was recorded: names are wrong if "
                         "it was built again",
                         file));
       return sentences;
     }},
    {"given-is-another",
     [](const NameFacts& names) {
       return !names.other_kernels.empty() && !names.given_names_a_kernel;
     },
     [](const NameFacts& names) {
       Sentences sentences;
       for (const NameFacts::OtherKernel& other : names.other_kernels)
         sentences.push_back(
             fmt::format("{}. Code of {} has the names of that", other.why, other.file));
       return sentences;
     }},
    {"given-is-not-what-ran",
     [](const NameFacts& names) {
       return has_unnamed_kernel(names) && !names.given_kernel.empty() &&
              !names.given_names_a_kernel;
     },
     [](const NameFacts& names) {
       return Sentences{fmt::format(
           "{} is not the kernel that was recorded: its code is not what ran. Give the right one "
           "with --kernel; if this is it, give --load-bias HEX, where it ran minus where it is "
           "linked",
           names.given_kernel)};
     }},
    {"kernel-file-unknown",
     [](const NameFacts& names) { return has_unnamed_kernel(names) && names.given_kernel.empty(); },
     [](const NameFacts&) {
       return Sentences{
           "the kernel's functions are shown as addresses, since no file of it is known. Give its "
           "ELF file with --kernel"};
     }},
    {"images-nameless", [](const NameFacts& names) { return !names.nameless_images.empty(); },
     [](const NameFacts& names) {
       return Sentences{
           fmt::format("no symbols for {}: their functions are shown as addresses; install their "
                       "debug symbols, or ask for them with --debuginfod",
                       fmt::join(names.nameless_images, ", "))};
     }},
    {"programs-without-file",
     [](const NameFacts& names) { return names.programs_without_file != 0; },
     [](const NameFacts& names) {
       return Sentences{fmt::format(
           "no file has the .text of {} program{} that the guest ran: functions there are shown as "
           "addresses; name the files, with symbols, to record --programs",
           names.programs_without_file, names.programs_without_file == 1 ? "" : "s")};
     }},
};

}  // namespace

std::span<const Finding<NameFacts>> of_names() { return kOfNames; }

}  // namespace ringside::findings
