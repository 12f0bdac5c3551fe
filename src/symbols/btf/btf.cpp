#include "symbols/btf/btf.h"

#include <algorithm>
#include <cstring>

#include "base/little_endian.h"

namespace ringside::symbols {
namespace {

constexpr std::uint16_t kMagic = 0xeb9f;
constexpr unsigned kMaxDepth = 32;  // of nested unnamed members, of typedefs of typedefs

// BTF_KIND_*
enum Kind : std::uint32_t {
  kInt = 1,
  kPointer = 2,
  kArray = 3,
  kStruct = 4,
  kUnion = 5,
  kEnum = 6,
  kForward = 7,
  kTypedef = 8,
  kVolatile = 9,
  kConst = 10,
  kRestrict = 11,
  kFunction = 12,
  kFunctionPrototype = 13,
  kVariable = 14,
  kDataSection = 15,
  kFloat = 16,
  kDeclarationTag = 17,
  kTypeTag = 18,
  kEnum64 = 19,
};

struct Header {
  std::uint16_t magic;
  std::uint8_t version;
  std::uint8_t flags;
  std::uint32_t header_size;
  std::uint32_t types_offset;  // from the header's end
  std::uint32_t types_size;
  std::uint32_t strings_offset;
  std::uint32_t strings_size;
};
static_assert(sizeof(Header) == 24);

constexpr std::size_t kTypeHead = 12;

std::uint32_t word(Bytes bytes, std::size_t at) { return load<std::uint32_t>(bytes, at); }

// Bytes of what follows the head of a type; nothing for a kind that is not known.
std::optional<std::size_t> data_size(std::uint32_t kind, std::size_t count) {
  switch (kind) {
    case kInt:
    case kVariable:
    case kDeclarationTag:
      return 4;
    case kArray:
      return 12;
    case kStruct:
    case kUnion:
    case kDataSection:
    case kEnum64:
      return 12 * count;
    case kEnum:
    case kFunctionPrototype:
      return 8 * count;
    case kPointer:
    case kForward:
    case kTypedef:
    case kVolatile:
    case kConst:
    case kRestrict:
    case kFunction:
    case kFloat:
    case kTypeTag:
      return 0;
    default:
      return std::nullopt;
  }
}

bool is_aggregate(std::uint32_t kind) { return kind == kStruct || kind == kUnion; }

Result<Header> read_header(Bytes bytes) {
  if (bytes.size() < sizeof(Header))
    return fail(ErrorCode::kTruncated, "BTF: {} bytes, less than a header", bytes.size());
  const auto header = load<Header>(bytes);
  if (header.magic != kMagic || header.version != 1)
    return fail(ErrorCode::kFormat, "BTF: magic {:#x}, version {} at offset 0 (not 0xeb9f, 1)",
                header.magic, header.version);
  const auto fits = [&](std::uint64_t offset, std::uint64_t size) {
    return header.header_size >= sizeof header &&
           header.header_size + offset + size <= bytes.size();
  };
  if (!fits(header.types_offset, header.types_size) ||
      !fits(header.strings_offset, header.strings_size))
    return fail(ErrorCode::kTruncated, "BTF: types or strings end after {:#x} bytes", bytes.size());
  return header;
}

}  // namespace

std::optional<std::size_t> find_btf(Bytes bytes, std::size_t from) {
  // Magic, version 1, no flags, a header of 24 bytes.
  constexpr std::string_view kStart{"\x9f\xeb\x01\0\x18\0\0\0", 8};
  while (from < bytes.size()) {
    const void* hit =
        memmem(bytes.data() + from, bytes.size() - from, kStart.data(), kStart.size());
    if (hit == nullptr) return std::nullopt;
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(hit) - bytes.data());
    const auto header = read_header(bytes.subspan(at));
    if (header && header->types_size > kTypeHead && header->strings_size > 1 &&
        bytes[at + header->header_size + header->strings_offset] == std::byte{0})
      return at;
    from = at + 1;
  }
  return std::nullopt;
}

std::size_t btf_size(Bytes bytes) {
  const auto header = read_header(bytes);
  if (!header) return 0;
  return header->header_size + std::max(std::size_t{header->types_offset} + header->types_size,
                                        std::size_t{header->strings_offset} + header->strings_size);
}

Result<Btf> Btf::parse(Bytes bytes) {
  RINGSIDE_ASSIGN(const Header header, read_header(bytes));
  Btf btf;
  const Bytes body = bytes.subspan(header.header_size);
  btf.types_ = body.subspan(header.types_offset, header.types_size);
  btf.strings_ = body.subspan(header.strings_offset, header.strings_size);
  RINGSIDE_TRY(btf.index());
  return btf;
}

Result<void> Btf::index() {
  offsets_.reserve(types_.size() / 24);
  for (std::size_t at = 0; at < types_.size();) {
    if (types_.size() - at < kTypeHead)
      return fail(ErrorCode::kTruncated, "BTF: the type at {:#x} is cut off", at);
    const std::uint32_t info = word(types_, at + 4);
    const std::uint32_t kind = info >> 24 & 0x1f;
    const auto more = data_size(kind, info & 0xffff);
    if (!more) return fail(ErrorCode::kUnsupported, "BTF: unknown kind {} at {:#x}", kind, at);
    if (*more > types_.size() - at - kTypeHead)
      return fail(ErrorCode::kTruncated, "BTF: the type at {:#x} is cut off", at);
    offsets_.push_back(static_cast<std::uint32_t>(at));
    if (is_aggregate(kind) || kind == kTypedef) {
      const std::string_view name = string(word(types_, at));
      auto& names = kind == kTypedef ? typedefs_ : structs_;
      if (!name.empty()) names.try_emplace(name, static_cast<TypeId>(offsets_.size()));
    }
    at += kTypeHead + *more;
  }
  return {};
}

std::string_view Btf::string(std::uint32_t offset) const {
  if (offset >= strings_.size()) return {};
  const char* start = reinterpret_cast<const char*>(strings_.data()) + offset;
  return {start, strnlen(start, strings_.size() - offset)};
}

std::optional<Btf::Type> Btf::type(TypeId id) const {
  if (id == 0 || id > offsets_.size()) return std::nullopt;
  const std::size_t at = offsets_[id - 1];
  const std::uint32_t info = word(types_, at + 4);
  return Type{.name = string(word(types_, at)),
              .kind = info >> 24 & 0x1f,
              .count = info & 0xffff,
              .flag = info >> 31 != 0,
              .size_or_type = word(types_, at + 8),
              .data = at + kTypeHead};
}

std::optional<Btf::Type> Btf::resolved(TypeId id) const {
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    const auto found = type(id);
    if (!found) return std::nullopt;
    switch (found->kind) {
      case kTypedef:
      case kVolatile:
      case kConst:
      case kRestrict:
      case kTypeTag:
        id = found->size_or_type;
        break;
      default:
        return found;
    }
  }
  return std::nullopt;
}

std::optional<Btf::TypeId> Btf::find(std::string_view name) const {
  if (const auto found = structs_.find(name); found != structs_.end()) return found->second;
  if (const auto found = typedefs_.find(name); found != typedefs_.end()) return found->second;
  return std::nullopt;
}

std::optional<std::uint64_t> Btf::size_of(TypeId id) const {
  std::uint64_t times = 1;
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    const auto found = resolved(id);
    if (!found) return std::nullopt;
    switch (found->kind) {
      case kInt:
      case kStruct:
      case kUnion:
      case kEnum:
      case kEnum64:
      case kFloat:
        return times * found->size_or_type;
      case kPointer: {
        // Its size is not in the format: that of "long unsigned int" is the kernel's.
        const auto pointer = pointer_size();
        return pointer ? std::optional(times * *pointer) : std::nullopt;
      }
      case kArray:
        id = word(types_, found->data);
        times *= word(types_, found->data + 8);
        break;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Btf::size_of(std::string_view name) const {
  const auto id = find(name);
  return id ? size_of(*id) : std::nullopt;
}

std::optional<Btf::Member> Btf::direct_member(const Type& outer, std::string_view name,
                                              unsigned depth, std::uint64_t& budget) const {
  if (!is_aggregate(outer.kind)) return std::nullopt;
  for (std::uint32_t i = 0; i < outer.count && budget > 0; ++i) {
    --budget;
    const std::size_t at = outer.data + std::size_t{12} * i;
    const std::string_view member_name = string(word(types_, at));
    const std::uint32_t offset = word(types_, at + 8);
    Member found{.bit_offset = outer.flag ? offset & 0xffffff : offset,
                 .bit_size = outer.flag ? offset >> 24 : 0,
                 .type = word(types_, at + 4)};
    if (member_name == name) return found;
    if (!member_name.empty() || depth == kMaxDepth) continue;
    const auto unnamed = resolved(found.type);
    if (!unnamed) continue;
    auto inner = direct_member(*unnamed, name, depth + 1, budget);
    if (!inner) continue;
    inner->bit_offset += found.bit_offset;
    return inner;
  }
  return std::nullopt;
}

std::optional<Btf::Member> Btf::member(TypeId id, std::string_view path) const {
  std::uint64_t budget = 1 << 20;
  Member result{.bit_offset = 0, .bit_size = 0, .type = id};
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view name = path.substr(0, dot);
    const auto outer = resolved(result.type);
    if (!outer || name.empty()) return std::nullopt;
    const auto inner = direct_member(*outer, name, 0, budget);
    if (!inner) return std::nullopt;
    result = {result.bit_offset + inner->bit_offset, inner->bit_size, inner->type};
    if (dot == std::string_view::npos) return result;
    path.remove_prefix(dot + 1);
  }
}

std::optional<Btf::Member> Btf::member(std::string_view name, std::string_view path) const {
  const auto id = find(name);
  return id ? member(*id, path) : std::nullopt;
}

std::optional<std::int64_t> Btf::enumerator(std::string_view name) const {
  for (TypeId id = 1; id <= offsets_.size(); ++id) {
    const auto found = type(id);
    if (found->kind != kEnum && found->kind != kEnum64) continue;
    const std::size_t width = found->kind == kEnum ? 8 : 12;
    for (std::uint32_t i = 0; i < found->count; ++i) {
      const std::size_t at = found->data + width * i;
      if (string(word(types_, at)) != name) continue;
      const std::uint32_t low = word(types_, at + 4);
      if (found->kind == kEnum64)
        return static_cast<std::int64_t>(std::uint64_t{word(types_, at + 8)} << 32 | low);
      // kind_flag says that values are signed; compilers until 2022 set it for none.
      return static_cast<std::int32_t>(low);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Btf::pointer_size() const {
  for (TypeId id = 1; id <= offsets_.size(); ++id) {
    const auto found = type(id);
    if (found->kind == kInt &&
        (found->name == "long unsigned int" || found->name == "unsigned long"))
      return found->size_or_type;
  }
  return std::nullopt;
}

}  // namespace ringside::symbols
