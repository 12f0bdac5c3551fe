// Structures whose layout the compiler shows in two ways: as BTF, and by offsetof.
#ifndef RINGSIDE_BTF_STRUCTURES_H
#define RINGSIDE_BTF_STRUCTURES_H

enum colour { kRed = 7, kGreen = -3, kBlue = 0x7fffffff };

struct coordinates {
  char tag;
  long x;
  short y;
};

typedef struct {
  int counter;
} counter_t;

struct thread_like {
  unsigned long sp;
  struct coordinates c;
};

struct task_like {
  unsigned state;
  const volatile char comm[16];
  struct task_like* parent;
  struct thread_like nested;
  union {
    int in_union;
    struct {
      char first;
      double unnamed_inner;
    };
  };
  unsigned narrow : 3;
  unsigned wide : 21;
  counter_t usage;
  struct coordinates many[5];
  void (*callback)(int);
  enum colour colour;
};

#endif
