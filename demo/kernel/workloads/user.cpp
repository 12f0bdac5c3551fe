#include "process/process.h"
#include "process/start_process.h"
#include "workloads/user_functions.h"
#include "workloads/work.h"
#include "workloads/workload.h"

namespace {

constexpr const char* kFunctions[] = {"[user]", "checksum_block", "encrypt_block"};

INLINE void process_work(u32 function, u64 iterations) {
  this_cpu().current->process->ticks += work(function, iterations);
}

}  // namespace

extern "C" void checksum_block(u64 n) { process_work(kChecksumBlock, n); }
extern "C" void encrypt_block(u64 n) { process_work(kEncryptBlock, n); }

CALLS(file_checksum, checksum_block)
CALLS(crypt_queue, encrypt_block)
CALLS(crypt_request, crypt_queue)

extern "C" void sys_work(u64 kind, u64 iterations) {
  if (kind == 0) {
    file_checksum(iterations);
  } else {
    crypt_request(iterations);
  }
}

// Every process does one unit of work, then yields; the scheduler runs only processes with the
// fewest units. So each round has one unit of each, whoever is preempted when.
static void start_processes() {
  start_process(compute_program);
  start_process(compute_program);
  start_process(syscaller_program);
}

constinit const Workload user_workload = {
    .name = "user",
    .summary = "ring 3: `compute` twice and `syscaller`, which lives in system calls",
    .functions = kFunctions,
    .function_count = 3,
    .threads_per_vcpu = 3,
    .only_vcpu0 = false,
    .ticks = true,
    .prepare = nullptr,
    .round = nullptr,
    .start_processes = start_processes,
};
