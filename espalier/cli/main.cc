#include "espalier/cli/commands.h"

int main(int argc, char** argv) { return espalier::cli::run(argc, argv); }
