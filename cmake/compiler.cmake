# How every file of the project is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

find_program(ESPALIER_CCACHE ccache)
if(ESPALIER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this, ccache keeps nothing that was compiled with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      "${ESPALIER_CCACHE}")
endif()

# The options of our own targets; dependencies and users of the library do not see them.
add_library(espalier_compiler INTERFACE)
target_compile_options(espalier_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion
  # Same source, same bits: a product and a sum become one instruction only where the code says so.
  -ffp-contract=off
  # Nobody reads errno after a square root; without it, loops over them are vectorised.
  -fno-math-errno
  # Source positions in messages are relative to the project, wherever it was cloned.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# What belongs to a thread is reached by a shorter way.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-mtls-dialect=gnu2 ESPALIER_HAS_TLS_DESCRIPTORS)
if(ESPALIER_HAS_TLS_DESCRIPTORS AND CMAKE_BUILD_TYPE STREQUAL "Release")  # clang-tidy, which reads other builds, has none
  target_compile_options(espalier_compiler INTERFACE -mtls-dialect=gnu2)
endif()

if(ESPALIER_WERROR)
  target_compile_options(espalier_compiler INTERFACE -Werror)
endif()

if(ESPALIER_SANITIZE)
  set(sanitize -fsanitize=${ESPALIER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${sanitize})
  add_link_options(${sanitize})
  # g++ no longer follows what is initialised once sanitizers have added their checks.
  target_compile_options(espalier_compiler INTERFACE -Wno-maybe-uninitialized)
  # SIMD code is one source for all its targets, and slow to compile there: AVX2 and the baseline will do.
  target_compile_definitions(espalier_compiler INTERFACE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3)")
endif()
