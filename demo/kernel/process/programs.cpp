#include "process/process.h"

extern "C" const u8 compute_begin[], compute_end[], syscaller_begin[], syscaller_end[];

constinit const Program compute_program = {"compute", compute_begin, compute_end};
constinit const Program syscaller_program = {"syscaller", syscaller_begin, syscaller_end};
