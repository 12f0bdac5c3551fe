#pragma once

// A map in a lock, as Rust's crates hashbrown and spin have it.
template <unsigned N>
struct ArrayString {
  char xs[N];
  unsigned len;
};

struct Entry {
  unsigned __0;
  ArrayString<32> __1;
};

struct RawTableInner {
  unsigned long items;
  unsigned char* ctrl;
};

template <class T, class A>
struct RawTable {
  A alloc;
  RawTableInner table;
  T first;
};

struct Global {
  long nothing;
};

template <class T>
struct RwLock {
  long lock;
  struct {
    long hash_builder;
    T data;
  };
};

namespace kernel::profiling {
extern RwLock<RawTable<Entry, Global>> DBG_ID_MAP;
}
