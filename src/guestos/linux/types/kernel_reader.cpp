#include "guestos/linux/types/kernel_reader.h"

#include <algorithm>
#include <cstring>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "base/little_endian.h"

namespace ringside::guestos {

std::uint64_t KernelObject::number_at(std::size_t offset, std::size_t size) const {
  if (size > sizeof(std::uint64_t) || offset > bytes_.size() || bytes_.size() - offset < size)
    return 0;
  return load_unsigned(bytes_, offset, size);
}

std::string KernelObject::text(Field field) const {
  if (field.offset >= bytes_.size()) return {};
  const char* start = reinterpret_cast<const char*>(bytes_.data()) + field.offset;
  return {start, strnlen(start, std::min<std::size_t>(field.size, bytes_.size() - field.offset))};
}

KernelReader::KernelReader(VirtualMemory& memory, Arch arch)
    : memory_(&memory), word_size_(arch::roles_of(arch).pointer_size) {}

Result<KernelObject> KernelReader::object(GuestVirt at, std::size_t bytes, const char* what) const {
  RINGSIDE_ASSIGN(auto contents, memory_->read_bytes(at, bytes));
  if (contents.size() < bytes)
    return fail(ErrorCode::kUnreadable, "{} at {} cannot be read (its memory ends at {})", what, at,
                at + contents.size());
  return KernelObject(at, std::move(contents));
}

Result<GuestVirt> KernelReader::pointer(GuestVirt at) const {
  RINGSIDE_ASSIGN(const KernelObject word, object(at, word_size_, "the pointer"));
  return GuestVirt{word.number_at(0, word_size_)};
}

Result<std::string> KernelReader::text(GuestVirt at, std::size_t limit) const {
  std::string text(limit, '\0');
  RINGSIDE_ASSIGN(const std::size_t got,
                  memory_->read_up_to(at, std::as_writable_bytes(std::span(text))));
  text.resize(strnlen(text.data(), got));
  return text;
}

}  // namespace ringside::guestos
