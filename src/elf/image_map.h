#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "elf/elf_file.h"

namespace ringside::elf {

// Names of images that mean something, in every recording.
inline constexpr const char* kKernelImage = "kernel";
inline constexpr const char* kUnknownProgram = "<unknown>";  // no file on the host has its .text

// An ELF file at its place in guest memory.
struct Image {
  std::uint32_t id = 0;
  std::string name;
  std::shared_ptr<const ElfFile> file;
  std::uint64_t load_bias = 0;  // guest virtual minus linked address, modulo 2^64
  bool from_guest = false;      // made of guest memory: there is no such file on the host

  [[nodiscard]] ImageAddr to_image(GuestVirt at) const { return {at.value - load_bias}; }
  [[nodiscard]] GuestVirt to_guest(ImageAddr at) const { return {at.value + load_bias}; }
};

// Which image lies at an address. Images may be added while readers hold pointers to others.
class ImageMap {
 public:
  // The image, which stays where it is until it is removed. Where two images overlap, the later one
  // is found.
  const Image& add(Image image);

  [[nodiscard]] const Image* find(GuestVirt address) const;
  // The same for executable segments only.
  [[nodiscard]] const Image* find_code(GuestVirt address) const;
  [[nodiscard]] const std::list<Image>& images() const { return images_; }
  // Removes all images but one of this map (null: none). Pointers to them are void.
  void remove_all_but(const Image* kept);
  // Grows with every change, so that caches know when to forget.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  struct Range {
    GuestVirt start;
    std::uint64_t size;
    const Image* image;
    bool executable;
  };
  std::list<Image> images_;
  std::vector<Range> ranges_;  // the newest image first
  std::uint64_t generation_ = 0;
};

}  // namespace ringside::elf
