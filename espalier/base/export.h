/// Marks what the shared library exports; everything else is hidden. Every header includes this one first, directly or
/// not: so it also refuses compilers that are set to an older standard.
#pragma once

#if __cplusplus < 202002L
#error "Espalier needs C++20: compile with -std=c++20 or a later standard"
#include <espalier/needs_c++20>  // does not exist: compilers go on after #error, but stop here
#endif

#define ESPALIER_EXPORT __attribute__((visibility("default")))
