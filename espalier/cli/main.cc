#include "espalier/cli/run.h"

int main(int argc, char** argv) { return espalier::cli::run(argc, argv); }
