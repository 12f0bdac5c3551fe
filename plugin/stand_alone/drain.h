#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "plugin/shared_ring.h"
#include "plugin/stand_alone/output_file.h"

namespace ringside::plugin {

// Stands in for ringside: starts the sampling, and moves what is sampled from the rings into a
// file, in a thread of its own.
class Drain {
 public:
  // Plans what each vCPU is to sample. `ring` must outlive it.
  Drain(SharedRing& ring, Arch arch, const StandAlone& wishes, OutputFile& file);

  // Starts the thread, once, with the first vCPU: by then QEMU has become a daemon, if it is to be
  // one. From now on, or after `start-after`, there are samples.
  void on_vcpu_start();
  // QEMU ends: what was sampled until now goes into the file, and standard error shows what became
  // of the ticks.
  void finish();

 private:
  void plan(Arch arch, const StandAlone& wishes);
  void enable(wire::SourceId id, wire::Backpressure backpressure);
  void disable_all();
  void start_sampling();
  void run();
  void take_all();
  void take_records(unsigned vcpu);
  wire::VcpuCounts counts(unsigned vcpu) const;
  void take_counts(unsigned vcpu);
  void take_last_counts(unsigned vcpu);
  void say_counts() const;

  SharedRing* ring_;
  OutputFile* file_;
  std::uint64_t interval_;
  std::uint64_t start_after_ns_;
  std::atomic_flag has_thread_;
  std::mutex mutex_;  // of what is below, and of the file
  bool ended_ = false;
  // As the file has it, of each vCPU.
  std::vector<std::uint64_t> taken_;  // ticks
  std::vector<wire::VcpuCounts> counted_;
};

}  // namespace ringside::plugin
