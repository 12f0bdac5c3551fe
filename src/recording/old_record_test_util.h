#pragma once

#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "recording/codec/fields.h"
#include "recording/codec/put_field.h"
#include "recording/samples.h"

// For tests: what recordings of version 1 have and later ones do not.
namespace ringside::recording::testing {

// One sample, as a record.
inline std::string old_sample_record(const SampleInfo& info, WeightUnit unit,
                                     const std::vector<StackRef>& stacks) {
  namespace f = fields::sample;
  std::string payload;
  protozero::pbf_writer records(payload);
  protozero::pbf_writer out(records, fields::records::kSample);
  out.add_uint64(f::kTimeNs, info.time_ns);
  put(out, f::kVcpu, info.vcpu.value);
  put_enum(out, f::kLevel, info.level);
  put_enum(out, f::kDisposition, info.disposition);
  put(out, f::kPauseNs, info.pause_ns);
  if (info.weight != 1) out.add_uint64(f::kWeight, info.weight);
  put_enum(out, f::kUnit, unit);
  put(out, f::kAddressSpace, info.address_space);
  if (info.pid) out.add_uint32(f::kPid, *info.pid);
  if (info.tid) out.add_uint32(f::kTid, *info.tid);
  for (const StackRef& ref : stacks) {
    protozero::pbf_writer stack(out, f::kStack);
    stack.add_uint64(fields::stack::kNode, ref.node);
    put_enum(stack, fields::stack::kStop, ref.stop);
    put_address(stack, fields::stack::kStoppedAt, ref.stopped_at.value);
  }
  return payload;
}

}  // namespace ringside::recording::testing
