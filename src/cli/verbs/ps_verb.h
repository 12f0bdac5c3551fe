#pragma once

#include <optional>

#include "cli/verbs/verb.h"
#include "launch/private_folder.h"
#include "session/process_lister.h"

namespace ringside::cli {

class PsVerb final : public Verb {
 public:
  [[nodiscard]] std::string name() const override { return "ps"; }
  [[nodiscard]] std::string summary() const override {
    return "List the processes of a running Linux guest, as its own ps would";
  }
  [[nodiscard]] std::string examples() const override {
    return "ps --gdb localhost:1234 --kernel vmlinuz\n"
           "ps aux --qmp ./qmp-socket\n"
           "ps --gdb ./gdb.sock --watch";
  }
  void add_options(App& app) override;
  [[nodiscard]] Result<void> run(const std::vector<std::string>& command) override;

 private:
  [[nodiscard]] Result<std::unique_ptr<engines::Engine>> attach();
  [[nodiscard]] Result<void> print(session::ProcessLister& lister,
                                   const guestos::ProcessList& list) const;

  std::string format_ = "threads";
  std::string output_format_;
  std::string gdb_;
  std::string qmp_;
  std::string ring_;
  bool leave_stub_ = false;
  std::string kernel_;
  std::string symbols_;
  double watch_s_ = 0;
  double patience_s_ = 10;
  bool debuginfod_ = false;
  std::optional<launch::PrivateFolder> stub_folder_;
};

}  // namespace ringside::cli
