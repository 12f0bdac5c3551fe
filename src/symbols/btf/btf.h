#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace ringside::symbols {

// Where the BPF type format begins in a range of bytes (a kernel in memory): by its magic number, a
// header that fits in the range, and strings that begin with the empty one. The next at or after
// `from`.
[[nodiscard]] std::optional<std::size_t> find_btf(Bytes bytes, std::size_t from = 0);

// Bytes of the BTF at the start of a range, header and all; 0 where there is none.
[[nodiscard]] std::size_t btf_size(Bytes bytes);

// The types of a kernel, as its .BTF section or the memory between __start_BTF and __stop_BTF has
// them (Documentation/bpf/btf.rst, Linux 6.12). A view: the bytes must outlive it.
class Btf {
 public:
  using TypeId = std::uint32_t;  // 0 is void

  struct Member {
    std::uint64_t bit_offset = 0;  // from the start of the structure that was asked for
    std::uint32_t bit_size = 0;    // of a bit field; 0 for other members
    TypeId type = 0;

    bool operator==(const Member&) const = default;
    [[nodiscard]] std::uint64_t offset() const { return bit_offset / 8; }  // bytes
  };

  // Reads headers and makes the index by name: 130,000 types take about 5 ms. Bytes behind the
  // format's end are ignored. Errors carry the offset.
  [[nodiscard]] static Result<Btf> parse(Bytes bytes);

  [[nodiscard]] std::size_t type_count() const { return offsets_.size(); }
  // A struct or union by its tag, else a typedef by its name. The first counts where there are
  // several.
  [[nodiscard]] std::optional<TypeId> find(std::string_view name) const;
  // Bytes; arrays, typedefs and qualifiers are followed. Nothing for functions and void.
  [[nodiscard]] std::optional<std::uint64_t> size_of(TypeId type) const;
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view name) const;
  // A member by its path, "thread.sp"; members of unnamed structs and unions count as the outer
  // one's, as in C. Nothing where there is none, or the path leads through a pointer or an array.
  [[nodiscard]] std::optional<Member> member(std::string_view type, std::string_view path) const;
  [[nodiscard]] std::optional<Member> member(TypeId type, std::string_view path) const;
  // The value of an enumerator of any enum; a linear search over all types (some ms).
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::string_view name) const;

 private:
  struct Type {
    std::string_view name;
    std::uint32_t kind = 0;
    std::uint32_t count = 0;  // vlen
    bool flag = false;        // kind_flag
    std::uint32_t size_or_type = 0;
    std::size_t data = 0;  // offset of what follows the head
  };

  Btf() = default;
  [[nodiscard]] Result<void> index();
  [[nodiscard]] std::optional<Type> type(TypeId id) const;
  [[nodiscard]] std::string_view string(std::uint32_t offset) const;
  [[nodiscard]] std::optional<std::uint64_t> pointer_size() const;
  // Through typedefs and qualifiers.
  [[nodiscard]] std::optional<Type> resolved(TypeId id) const;
  [[nodiscard]] std::optional<Member> direct_member(const Type& type, std::string_view name,
                                                    unsigned depth, std::uint64_t& budget) const;

  Bytes types_;
  Bytes strings_;
  std::vector<std::uint32_t> offsets_;  // of type id + 1, in types_
  std::unordered_map<std::string_view, TypeId> structs_;
  std::unordered_map<std::string_view, TypeId> typedefs_;
};

}  // namespace ringside::symbols
