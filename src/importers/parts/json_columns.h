#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringside::importers {

// Bounds what an import holds of a file's tables, and what the recording's writer keeps of its
// frames and stacks, so that the whole of it stays below 1 GB.
class TableBudget {
 public:
  static constexpr std::size_t kMost = std::size_t{600} << 20;        // bytes
  static constexpr std::size_t kMostTables = std::size_t{500} << 20;  // of these

  // Counts bytes that are held from now on; false where they are too many.
  [[nodiscard]] bool take(std::size_t bytes) {
    used_ += bytes;
    return used_ <= limit_;
  }
  // Counts what the writer keeps up to a node that it has given: it numbers nodes in the order of
  // first sight.
  [[nodiscard]] bool take_node(std::uint32_t node) {
    constexpr std::size_t kBytesOfNode = 40;
    const std::size_t added = node > nodes_ ? node - nodes_ : 0;
    nodes_ += static_cast<std::uint32_t>(added);
    return take(kBytesOfNode * added);
  }
  // Counts frames that were looked up to make a stack. They are many where each of many stacks has
  // hundreds; a few bytes of a file can ask for that.
  [[nodiscard]] bool take_look_ups(std::size_t frames) {
    look_ups_ += frames;
    return look_ups_ <= kMostLookUps;
  }
  // The tables are complete: stacks take the rest.
  void begin_stacks() { limit_ = kMost; }
  [[nodiscard]] std::string reason() const {
    return "its tables take more than the " + std::to_string(kMostTables >> 20) +
           " MiB that are held at once: save a part of the profile";
  }

 private:
  static constexpr std::uint64_t kMostLookUps = std::uint64_t{1} << 28;

  std::size_t used_ = 0;
  std::uint32_t nodes_ = 0;
  std::uint64_t look_ups_ = 0;
  std::size_t limit_ = kMostTables;
};

// In a column of indexes: null, -1, or no index at all.
inline constexpr std::uint32_t kNoIndex = 0xffffffff;

// A column of a table. It grows without being copied, and takes nothing but itself while it is
// empty: a file has room for hundreds of thousands of empty tables in a megabyte.
template <class T>
class Column {
 public:
  void push_back(T value) {
    const Place place = place_of(size_);
    if (place.block == blocks_.size())
      blocks_.push_back(std::make_unique_for_overwrite<T[]>(kFirst << place.block));
    blocks_[place.block][place.index] = std::move(value);
    ++size_;
  }
  [[nodiscard]] const T& operator[](std::size_t index) const {
    const Place place = place_of(index);
    return blocks_[place.block][place.index];
  }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  static constexpr std::size_t kFirst =
      8;  // values of the first block; each next has twice as many

  struct Place {
    std::size_t block = 0;
    std::size_t index = 0;  // in it
  };
  [[nodiscard]] static Place place_of(std::size_t index) {
    const std::size_t from = index + kFirst;
    const auto block = static_cast<std::size_t>(std::bit_width(from / kFirst) - 1);
    return {block, from - (kFirst << block)};
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t size_ = 0;
};

// The value at `index`, or `none` where the column ends before.
template <class T>
[[nodiscard]] T at_or(const Column<T>& column, std::size_t index, T none) {
  return index < column.size() ? column[index] : none;
}

// Adds a value to a column; false where the budget has no room for it.
template <class T>
[[nodiscard]] bool add_to(Column<T>& column, T value, TableBudget& budget) {
  column.push_back(value);
  return budget.take(sizeof(T));
}

// Texts by index. Longer ones than any name is are cut. The writer may keep them, too.
class TextColumn {
 public:
  static constexpr std::size_t kLongest = 16 << 10;  // bytes

  [[nodiscard]] bool add(std::string_view text, TableBudget& budget) {
    texts_.emplace_back(text.substr(0, kLongest));
    return budget.take(sizeof(std::string) + 16 + 2 * texts_.back().size());
  }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  // Empty where there is none of that index.
  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    return index < texts_.size() ? std::string_view(texts_[index]) : std::string_view();
  }

 private:
  std::deque<std::string> texts_;
};

}  // namespace ringside::importers
