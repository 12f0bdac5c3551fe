#include <calls.h>

volatile int sink;

namespace outer {
namespace {

template <class T>
struct Box {
  T value;
  T get() const { return static_cast<T>(store(static_cast<int>(value))); }
  struct Inner {
    static __attribute__((noinline)) int work(T x) { return store_many(static_cast<int>(x)); }
  };
};

}  // namespace

class Shape {
 public:
  explicit Shape(int size) : size_(size) { sink = size; }
  virtual int area() const;
  __attribute__((noinline)) int twice_area() const { return twice(area()); }

 protected:
  int size_;
};

int Shape::area() const { return size_ * store(size_); }

__attribute__((noinline)) int with_lambda(int x) {
  auto add = [x](int y) __attribute__((noinline)) { return store(x + y); };
  struct Local {
    static __attribute__((noinline)) int run(int z) { return store(z) + Box<long>{z}.get(); }
  };
  return add(sink) + Local::run(x) + Box<short>::Inner::work(3);
}

}  // namespace outer

extern "C" void __cxa_pure_virtual() {}

extern "C" __attribute__((noinline)) int use(const outer::Shape& shape) {
  return shape.twice_area() + outer::with_lambda(sink) + other_file(sink);
}

namespace __cxxabiv1 {
struct __class_type_info {
  virtual ~__class_type_info();
};
__class_type_info::~__class_type_info() {}
}  // namespace __cxxabiv1
void operator delete(void*) {}
void operator delete(void*, unsigned long) {}
void operator delete(void*, unsigned) {}

extern "C" void _start() {
  outer::Shape shape(sink);
  for (;;) sink = use(shape);
}
