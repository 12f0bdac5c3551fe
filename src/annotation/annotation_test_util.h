#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "annotation/code_source.h"
#include "annotation/leaf_sums.h"

// For tests: sums of samples and code, made up of a few words.
namespace ringside::annotation::testing {

class MadeSums {
 public:
  // An image without a file.
  const recording::ImageInfo* image(const std::string& name, std::uint64_t load_bias = 0) {
    recording::ImageInfo& made = images_.emplace_back();
    made.id = static_cast<std::uint32_t>(images_.size());
    made.name = name;
    made.load_bias = load_bias;
    return &made;
  }
  // Samples of a symbol at `start`; `functions` outermost first. `size` 0: no symbol is known.
  void add(const recording::ImageInfo* image, std::uint64_t start, std::uint64_t offset,
           const std::vector<std::string>& functions, std::int64_t weight,
           std::uint64_t size = 16) {
    Leaf leaf;
    leaf.address = GuestVirt{start + offset};
    leaf.kind = profile::Kind::kKernel;
    leaf.image = image;
    if (size != 0) leaf.symbol = {GuestVirt{start}, size};
    for (const std::string& function : functions)
      leaf.functions.push_back(strings.intern(function));
    leaf.sum = {weight, 1};
    sums.leaves.push_back(leaf);
    sums.total.add(leaf.sum);
    sums.extent += profile::extent_of(weight);
  }

  LeafSums sums;
  profile::StringTable strings;

 private:
  std::deque<recording::ImageInfo> images_;
};

// Code from one address on, and names and lines by address.
class FakeCode final : public CodeSource {
 public:
  Code code_at(const profile::FrameToName& what, std::size_t size) override {
    const std::uint64_t offset = what.frame.address.value - start;
    if (offset >= bytes.size()) return {};
    return {Arch::kX86_64,
            Bytes(bytes).subspan(offset).first(std::min(size, bytes.size() - offset))};
  }
  void name(const profile::FrameToName& what, profile::NamedFrame& out) override {
    const auto known = names.find(what.frame.address.value);
    if (known != names.end()) out = known->second;
  }

  std::uint64_t start = 0;
  std::vector<std::byte> bytes;
  std::map<std::uint64_t, profile::NamedFrame> names;
};

}  // namespace ringside::annotation::testing
