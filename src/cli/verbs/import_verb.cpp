#include "cli/verbs/import_verb.h"

#include <fmt/core.h>

#include "app/messages.h"
#include "cli/import_flags.h"
#include "cli/options.h"

namespace ringside::cli {
void ImportVerb::add_options(App& app) {
  app.add_option("FILE", request_.inputs,
                 "The file to read, or several of one profile, such as a ring of each CPU; - is "
                 "standard input");
  app.add_option("-o,--output", output_, "The recording")->type_name("FILE")->capture_default_str();
  add_disk_options(app);
  add_input_format_flag(app, request_.format, FormatHelp::kDescribes);
  app.add_option("--kernel", request_.kernel, "The guest's kernel: any file of it that is bootable")
      ->type_name("FILE");
  app.add_option("--symbols", request_.symbols,
                 "The kernel's symbols, if its file has none or too few, or there is no file: "
                 "System.map, nm's output or /proc/kallsyms")
      ->type_name("FILE");
  app.add_option("--load-bias", request_.load_bias,
                 "Where the kernel ran minus where it is linked (default: detected for tcg, else "
                 "0)")
      ->type_name("HEX");
  add_import_flags(app, request_.settings);
  app.add_option("--os", request_.os, "The guest's operating system (tcg)")
      ->type_name("NAME")
      ->one_of({"auto", "linux", "none"})
      ->capture_default_str();
  app.add_flag("--keep-captures", request_.keep_captures,
               "Also store what each stack was unwound from, for 'ringside case extract' (tcg)");
}

void ImportVerb::add_disk_options(App& app) {
  app.add_option(
         "--disk", disk_.image,
         "Read files in a guest's disk image, which no QEMU has open: raw, qcow2 or another "
         "one that qemu-img reads. IMAGE:2 is its partition 2 (default: the one that has "
         "the file)")
      ->type_name("IMAGE");
  app.add_option("--path", disk_.paths,
                 "A file in the image, in ext2, ext3, ext4 or FAT; may be given again. Without it "
                 "the bytes of a disk that has no file system are read")
      ->type_name("PATH")
      ->allow_extra_args(false);
}

Result<void> ImportVerb::run(const std::vector<std::string>&) {
  request_.output = output_;
  RINGSIDE_TRY(import_input());
  app::say(fmt::format(
      "ringside: the recording is in {0}; look at it with 'ringside report -i {0}'", output_));
  return {};
}

Result<void> ImportVerb::import_input() {
  if (disk_.image.empty() && !disk_.paths.empty())
    return fail(ErrorCode::kUsage, "--path is that of a file in a disk image: give --disk IMAGE");
  if (disk_.image.empty() && request_.inputs.empty())
    return fail(ErrorCode::kUsage, "which file is to be read? Give its name, or --disk IMAGE");
  if (!disk_.image.empty() && !request_.inputs.empty())
    return fail(ErrorCode::kUsage, "--disk takes the place of FILE: give one of them");
  return disk_.image.empty() ? app::import_files(request_) : app::import_from_disk(request_, disk_);
}

}  // namespace ringside::cli
