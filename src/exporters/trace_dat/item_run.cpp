#include "exporters/trace_dat/item_run.h"

#include <algorithm>
#include <iterator>
#include <protozero/varint.hpp>

namespace ringside::exporters::trace_dat {
namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr std::size_t kSpare = 1 << 10;  // most items are smaller

void put(std::string& bytes, std::uint64_t number) {
  protozero::write_varint(std::back_inserter(bytes), number);
}

}  // namespace

void ItemRun::add(const Item& item) {
  if (blocks_.empty() || blocks_.back().size() >= kBlock) {
    blocks_.emplace_back();
    // Short runs, such as those of hundreds of processors, take little.
    if (blocks_.size() > 1) blocks_.back().reserve(kBlock + kSpare);
  }
  std::string& block = blocks_.back();
  const std::uint64_t time = std::max(time_, item.time);
  put(block, time - time_);
  time_ = time;
  put(block, item.kind);
  put(block, item.group);
  put(block, 2 * item.numbers.size() + (item.bytes.empty() ? 0 : 1));
  for (const std::int64_t number : item.numbers) put(block, protozero::encode_zigzag64(number));
  if (item.bytes.empty()) return;
  put(block, item.bytes.size());
  for (const std::string_view bytes : item.bytes) {
    put(block, bytes.size());
    block += bytes;
  }
}

bool ItemRun::Cursor::next(Item& item) {
  if (block_ < run_->blocks_.size() && offset_ == run_->blocks_[block_].size()) {
    ++block_;
    offset_ = 0;
  }
  if (block_ == run_->blocks_.size()) return false;
  const std::string& block = run_->blocks_[block_];
  const char* at = block.data() + offset_;
  const char* const end = block.data() + block.size();
  const auto take = [&] { return protozero::decode_varint(&at, end); };
  item.time = time_ += take();
  item.kind = static_cast<std::uint32_t>(take());
  item.group = static_cast<std::uint32_t>(take());
  const std::uint64_t shape = take();
  item.numbers.resize(shape / 2);
  for (std::int64_t& number : item.numbers) number = protozero::decode_zigzag64(take());
  item.bytes.resize(shape % 2 == 0 ? 0 : take());
  for (std::string_view& bytes : item.bytes) {
    const std::uint64_t size = take();
    bytes = {at, size};
    at += size;
  }
  offset_ = static_cast<std::size_t>(at - block.data());
  return true;
}

}  // namespace ringside::exporters::trace_dat
