#include "workloads/workload.h"
constinit const Workload names_workload = {};
