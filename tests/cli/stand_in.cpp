#include <unistd.h>

#include <cstdlib>
#include <vector>

// A stand-in for QEMU that is an ELF program: runs what $FAKE_QEMU names with its arguments. A
// script would not do, because ringside asks no script anything.
int main(int argc, char** argv) {
  const char* const python = std::getenv("FAKE_QEMU_PYTHON");
  const char* const script = std::getenv("FAKE_QEMU");
  if (python == nullptr || script == nullptr) return 127;
  std::vector<char*> words{const_cast<char*>(python), const_cast<char*>("-B"),
                           const_cast<char*>(script)};
  words.insert(words.end(), argv + 1, argv + argc);
  words.push_back(nullptr);
  ::execv(python, words.data());
  return 127;
}
