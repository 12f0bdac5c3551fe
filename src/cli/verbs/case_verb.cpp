#include "cli/verbs/case_verb.h"

#include <fmt/format.h>

#include <iterator>

#include "app/kept_captures.h"
#include "app/messages.h"
#include "arch/arch_info.h"
#include "base/text.h"
#include "cases/case_file.h"
#include "cases/extract.h"
#include "cli/options.h"
#include "cli/terminal.h"

namespace ringside::cli {
namespace {

std::string origin_of(const app::KeptCaptures& kept) {
  const recording::Header& header = kept.reader.header();
  std::string text = fmt::format("arch {}\nguest-os {}\nkernel {}\n", arch::name_of(header.arch),
                                 header.guest_os, header.kernel);
  for (const elf::Image& image : kept.images.images())
    text += fmt::format("build-id {} {}\n", image.name, image.file->build_id_hex());
  return text + fmt::format("ringside {}\ncommand {}\n", header.ringside_version,
                            fmt::join(header.command_line, " "));
}

}  // namespace

void CaseVerb::add_selection(App& app) {
  app.add_option("-i,--input", input_, "The recording")->type_name("FILE")->capture_default_str();
  app.add_option("--kernel", kernel_,
                 "The kernel's ELF file, if it is no longer where it was recorded")
      ->type_name("FILE");
  app.add_option("--sample", selection_.numbers, "Captures with these numbers, such as 17,42")
      ->type_name("NUMBERS")
      ->delimiter(',');
  app.add_option("--where", selection_.where,
                 "leaf=FUNCTION, frame=FUNCTION or stop=REASON, * for any characters")
      ->type_name("CONDITION");
  app.add_flag("--incomplete", selection_.incomplete, "Stacks that are not complete");
  app.add_option("--random", selection_.random, "So many of them, at random")->type_name("N");
  app.add_option("--seed", selection_.seed, "Seed of the random choice")
      ->type_name("N")
      ->capture_default_str();
}

void CaseVerb::add_options(App& app) {
  app.require_subcommand(1);
  list_ =
      app.add_subcommand("list", "Print captures: number, vCPU, why the stack ended, functions");
  add_selection(*list_);
  extract_ = app.add_subcommand("extract", "Write captures as test cases, one file each");
  add_selection(*extract_);
  extract_
      ->add_option("-o,--output", output_, "The folder of the cases and the files that they share")
      ->type_name("DIR")
      ->capture_default_str();
  show_ = app.add_subcommand("show", "Print the stack of a case, and how it differs from today's");
  show_->add_option("FILE", case_, "The case")->required();
}

Result<void> CaseVerb::run(const std::vector<std::string>&) {
  if (list_->parsed()) return list();
  return extract_->parsed() ? extract() : show();
}

Result<void> CaseVerb::list() const {
  RINGSIDE_ASSIGN(const auto kept, app::open_kept(input_, kernel_));
  const std::vector<cases::Candidate> candidates = app::candidates_of(*kept);
  RINGSIDE_ASSIGN(const auto chosen, cases::choose(selection_, candidates));
  std::string text;
  for (const std::size_t number : chosen) {
    const auto& entry = kept->captures.entries()[number];
    text += fmt::format("{}\t{}\t{}\t", number, entry.info.vcpu.value, name_of(entry.stack.stop));
    const auto frames = kept->captures.frames_of(entry);
    for (std::size_t i = 0; i < frames.size(); ++i)
      text += fmt::format("{}{}@{:#x}", i == 0 ? "" : " ",
                          printable_line(candidates[number].functions[i]), frames[i].address.value);
    text += '\n';
  }
  print(text);
  return {};
}

Result<void> CaseVerb::extract() const {
  RINGSIDE_ASSIGN(const auto kept, app::open_kept(input_, kernel_));
  RINGSIDE_ASSIGN(auto chosen, cases::choose(selection_, app::candidates_of(*kept)));
  if (chosen.empty()) return fail(ErrorCode::kNotFound, "{}: no capture is chosen", input_);
  RINGSIDE_ASSIGN(auto captures, cases::read_captures(kept->reader, chosen));
  RINGSIDE_ASSIGN(const auto result,
                  cases::extract({kept->images, kept->trap_frame_layouts, origin_of(*kept),
                                  std::move(chosen), std::move(captures), output_}));
  for (const auto& path : result.differing)
    app::say(
        fmt::format("ringside: {}: its minimized images give another stack than the whole ones",
                    path.string()));
  app::say(
      fmt::format("ringside: {} cases are in {}; their expected stacks are what ringside found, "
                  "not confirmed by anything",
                  result.cases.size(), output_));
  return {};
}

Result<void> CaseVerb::show() const {
  cases::ImageCache cache;
  RINGSIDE_ASSIGN(const auto loaded, cases::load_case(case_, cache));
  std::string text = cases::expected_text(loaded->expected);
  for (const cases::Rules rules : cases::rules_of(*loaded)) {
    const std::string difference =
        cases::difference(loaded->expected, cases::replay(*loaded, rules).stack);
    text += fmt::format(
        "with {} rules ringside finds {}\n{}", name_of(rules),
        difference.empty() ? "the same" : "another stack (- expected, + found):", difference);
  }
  print(text);
  return {};
}

}  // namespace ringside::cli
