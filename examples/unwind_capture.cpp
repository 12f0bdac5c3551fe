// Prints the stack of a captured vCPU: unwind_capture CASE.case
//
// The unwinder needs the capture (registers and pieces of stack memory) and the images that
// the code comes from. Here both come from a test case of tests/unwind-cases; any other source of
// registers and memory does as well.
#include <cstdio>
#include <exception>

#include "cases/case_file.h"
#include "symbols/symbol_table.h"
#include "unwind/unwinder.h"

namespace {

using namespace ringside;

std::string name_of(const elf::ImageMap& images, GuestVirt address) {
  const elf::Image* image = images.find_code(address);
  if (image == nullptr) return "?";
  const auto symbol = symbols::SymbolTable::from_elf(image->file).find(image->to_image(address));
  return symbol ? std::string(symbol->raw) : "?";
}

int print_stack(const char* path) {
  cases::ImageCache files;
  const auto loaded = cases::load_case(path, files);
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    return 1;
  }
  unwind::Unwinder unwinder((*loaded)->images, {.entries = (*loaded)->entries});
  const Stack stack = unwinder.unwind((*loaded)->capture);
  for (const Frame& frame : stack.frames)
    // A return address may lie behind its function: lookup_address() lies in the call.
    std::printf("%#018llx %-40s %s\n", static_cast<unsigned long long>(frame.address.value),
                name_of((*loaded)->images, frame.lookup_address()).c_str(), name_of(frame.source));
  std::printf("%s\n", name_of(stack.stop));
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 2) return print_stack(argv[1]);
  std::fprintf(stderr, "usage: unwind_capture CASE.case\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
