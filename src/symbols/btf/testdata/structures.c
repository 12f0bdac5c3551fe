#include "structures.h"

struct task_like task;
