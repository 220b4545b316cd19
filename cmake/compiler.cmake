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
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/tools/cached_compiler")
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
  target_compile_options(espalier_compiler INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# SIMD code is compiled once for each of Highway's targets, and takes long. AVX-512, AVX2, SSE4 and the baseline are
# enough: SSSE3 would serve the processors of 2006 to 2008. With sanitizers, AVX2 and the baseline are.
set(simd_disabled HWY_SSSE3)
if(ESPALIER_SANITIZE)
  list(APPEND simd_disabled HWY_SSE4 HWY_AVX3)
endif()
list(JOIN simd_disabled "|" simd_disabled)
target_compile_definitions(espalier_compiler INTERFACE "HWY_DISABLED_TARGETS=(${simd_disabled})")
