#pragma once

#include <vector>

#include "recording/reader.h"

namespace ringside::recording {

// Gets samples one by one, each with all that it has.
class SampleVisitor : public Visitor {
 public:
  virtual void sample(const Sample& sample) = 0;

  void thread(std::uint32_t, const Thread& value) override { threads_.push_back(value); }
  void stack_list(std::uint32_t, const StackList& value) override { lists_.push_back(value); }
  void context(std::uint32_t, const Context& value) override { contexts_.push_back(value); }
  void sample_batch(const SampleBatch& batch) override;

 protected:
  // Fills what a context has.
  void expand(std::uint32_t context, Sample& sample) const;
  [[nodiscard]] const Thread& thread_of(std::uint32_t id) const { return threads_[id]; }

 private:
  // By id.
  std::vector<Thread> threads_{1};
  std::vector<StackList> lists_{1};
  std::vector<Context> contexts_{1};
  Sample sample_;  // reused
};

}  // namespace ringside::recording
