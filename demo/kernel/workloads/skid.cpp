#include "workloads/workload.h"
constinit const Workload skid_workload = {};
