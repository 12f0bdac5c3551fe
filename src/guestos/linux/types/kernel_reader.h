#pragma once

#include <string>
#include <vector>

#include "base/memory_reader.h"
#include "base/result.h"
#include "guestos/guest_memory.h"
#include "guestos/linux/types/type_source.h"

namespace ringside::guestos {

// The first bytes of a structure in the kernel's memory, as they were at one moment. Members that
// do not lie in these bytes are 0.
class KernelObject {
 public:
  KernelObject(GuestVirt at, std::vector<std::byte> bytes) : at_(at), bytes_(std::move(bytes)) {}

  [[nodiscard]] GuestVirt address() const { return at_; }
  // Reads a member of up to 8 bytes, unsigned.
  [[nodiscard]] std::uint64_t number(Field field) const {
    return number_at(field.offset, field.size);
  }
  [[nodiscard]] std::uint64_t number_at(std::size_t offset, std::size_t size) const;
  [[nodiscard]] GuestVirt pointer(Field field) const { return {number(field)}; }
  // An array of characters up to its first 0.
  [[nodiscard]] std::string text(Field field) const;
  // Where a member lies.
  [[nodiscard]] GuestVirt address_of(Field field) const { return at_ + field.offset; }

 private:
  GuestVirt at_;
  std::vector<std::byte> bytes_;
};

// Structures in the memory of a kernel that runs. Error kUnreadable where memory cannot be
// read, which a later try may find there: a pointer was old, or half-way through a change. Any
// other error is the connection's.
class KernelReader {
 public:
  // `memory`: the kernel's; must outlive it.
  KernelReader(VirtualMemory& memory, Arch arch);

  [[nodiscard]] std::size_t word_size() const { return word_size_; }  // bytes of a pointer
  // `what` names it in errors: "struct vm_area_struct".
  [[nodiscard]] Result<KernelObject> object(GuestVirt at, std::size_t bytes,
                                            const char* what) const;
  [[nodiscard]] Result<GuestVirt> pointer(GuestVirt at) const;
  // Up to `limit` bytes, or to the first 0, or to where memory ends.
  [[nodiscard]] Result<std::string> text(GuestVirt at, std::size_t limit) const;
  [[nodiscard]] VirtualMemory& memory() const { return *memory_; }

 private:
  VirtualMemory* memory_;
  std::size_t word_size_;
};

}  // namespace ringside::guestos
