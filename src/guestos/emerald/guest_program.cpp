#include "guestos/emerald/guest_program.h"

#include <elf.h>

#include <algorithm>
#include <vector>

#include "elf/elf_writer.h"
#include "elf/image_map.h"

namespace ringside::guestos::emerald {
namespace {

// A claim to much that is not there costs one piece.
constexpr std::uint64_t kPiece = 256u << 10;
// Memory for an ELF file's object and its owners, bytes.
constexpr std::uint64_t kFileOverhead = 4096;

// As many bytes as can be read from the start.
Result<std::vector<std::byte>> read_in_pieces(GuestVirt at, std::uint64_t size,
                                              VirtualMemory& memory) {
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min(kPiece, size - before));
    RINGSIDE_ASSIGN(const std::size_t count,
                    memory.read_up_to(at + before, std::span(bytes).subspan(before)));
    const bool ended = count < bytes.size() - before;
    if (ended) bytes.resize(before + count);
    if (ended) break;
  }
  return bytes;
}

std::shared_ptr<UserImage> unknown_image() {
  auto image = std::make_shared<UserImage>();
  image->name = elf::kUnknownProgram;
  image->from_guest = true;
  return image;
}

GuestPrograms::Placed place_text(const Metadata& metadata,
                                 std::shared_ptr<const UserImage> program) {
  GuestPrograms::Placed placed;
  placed.program = std::move(program);
  placed.mappings.push_back(
      {metadata.text, metadata.text + metadata.text_size, FileOffset{}, placed.program});
  return placed;
}

}  // namespace

GuestPrograms::GuestPrograms(std::shared_ptr<ProgramFiles> files)
    : files_(std::move(files)), no_file_(unknown_image()) {}

GuestPrograms::Placed GuestPrograms::unreadable(const Metadata& metadata) const {
  return place_text(metadata, no_file_);
}

Result<std::optional<GuestPrograms::Placed>> GuestPrograms::poll(const Metadata& metadata,
                                                                 VirtualMemory& memory) {
  if (metadata.text_size > kMostText) return unreadable(metadata);
  RINGSIDE_ASSIGN(const auto text, read_in_pieces(metadata.text, metadata.text_size, memory));
  if (text.size() < metadata.text_size) return std::nullopt;
  if (const auto program = files_ ? files_->find(text) : nullptr) {
    const std::uint64_t linked = program->file->section(".text")->address.value;
    return Placed{mappings_of(program, metadata.text.value - linked), program};
  }
  std::vector<std::byte> eh_frame;
  if (metadata.eh_frame_size <= kMostEhFrame) {
    RINGSIDE_ASSIGN(eh_frame, read_in_pieces(metadata.eh_frame, metadata.eh_frame_size, memory));
  }
  // A part of it could end inside of an entry.
  if (eh_frame.size() < metadata.eh_frame_size) eh_frame.clear();
  const auto program = make_image(metadata, text, eh_frame);
  if (!program) return unreadable(metadata);
  return Placed{mappings_of(program), program};
}

std::shared_ptr<const UserImage> GuestPrograms::make_image(const Metadata& metadata, Bytes text,
                                                           Bytes eh_frame) {
  const Key key{text_hash(text), metadata.text, text_hash(eh_frame), metadata.eh_frame};
  if (const auto known = unknown_.find(key); known != unknown_.end()) return known->second;
  const std::uint64_t bytes = kFileOverhead + text.size() + eh_frame.size();
  if (bytes > bytes_left_) return nullptr;
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({metadata.text.value}, text.size(), true, false, text);
  writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {metadata.text.value},
                     text.size());
  if (!eh_frame.empty())
    writer.add_section(".eh_frame", SHT_PROGBITS, SHF_ALLOC, {metadata.eh_frame.value}, eh_frame);
  auto file = elf::ElfFile::from_bytes(writer.write(), elf::kUnknownProgram);
  if (!file) return nullptr;
  const auto image = unknown_image();
  image->file = std::move(*file);
  bytes_left_ -= bytes;
  unknown_.emplace(key, image);
  return image;
}

}  // namespace ringside::guestos::emerald
