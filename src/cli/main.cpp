#include "cli/app.h"

int main(int argc, char** argv) { return ringside::cli::run(argc, argv); }
