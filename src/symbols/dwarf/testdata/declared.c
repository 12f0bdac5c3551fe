// Met before the unit that defines them.
struct task_like;
typedef struct task_like task_by_name;
task_by_name* pointer;
struct only_declared* nowhere;
