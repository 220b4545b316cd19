# Turns espalier/ops/list.txt into two headers, so that a new op is one new file and one line in that list:
#   generated/espalier/ops/all.h            every op, and the type list AllOps
#   generated/espalier/ops/all_maps_simd.h  the maps, included once for each SIMD target
set(ESPALIER_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
set(op_list_file "${PROJECT_SOURCE_DIR}/espalier/ops/list.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${op_list_file}")

# layer_norm -> LayerNorm
function(espalier_pascal_case name out)
  string(REPLACE "_" ";" words "${name}")
  set(result "")
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 first)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND result "${first}${rest}")
  endforeach()
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

# Reads the list; sets `op_names` and `map_names` in the caller. Stops with a sentence that names the line.
function(espalier_read_op_list)
  if(NOT EXISTS "${op_list_file}")
    message(FATAL_ERROR "espalier/ops/list.txt is missing: it names every op, one line each.")
  endif()
  file(READ "${op_list_file}" text)
  string(REGEX REPLACE "[;[]|]" "?" text "${text}")  # characters that are special in CMake lists, and never right here
  string(REPLACE "\n" ";" lines "${text}")
  set(names "")
  set(maps "")
  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    string(REGEX REPLACE "#.*" "" entry "${line}")
    string(STRIP "${entry}" entry)
    if(entry STREQUAL "")
      continue()
    endif()
    set(where "espalier/ops/list.txt:${number}")
    if(NOT entry MATCHES "^(map|product|reduce|move|leaf)[ \t]+([a-z][a-z0-9]*(_[a-z0-9]+)*)$")
      message(FATAL_ERROR "${where}: expected '<kind> <name>' with a kind of map, product, reduce, move or leaf "
                          "and a snake_case name, found '${entry}'.")
    endif()
    set(kind "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    if(name IN_LIST names)
      message(FATAL_ERROR "${where}: the op '${name}' is already in the list.")
    endif()
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/espalier/ops/${name}.h")
      message(FATAL_ERROR "${where}: the op '${name}' has no file espalier/ops/${name}.h.")
    endif()
    list(APPEND names "${name}")
    if(kind STREQUAL "map")
      list(APPEND maps "${name}")
    endif()
  endforeach()
  set(op_names "${names}" PARENT_SCOPE)
  set(map_names "${maps}" PARENT_SCOPE)
endfunction()

# Sets `includes` (one #include a line) and `types` (a separated list of structs) for the ops named.
macro(espalier_render_ops separator)
  set(includes "")
  set(types "")
  foreach(name IN ITEMS ${ARGN})
    espalier_pascal_case("${name}" type)
    string(APPEND includes "#include \"espalier/ops/${name}.h\"\n")
    list(APPEND types "${type}")
  endforeach()
  list(JOIN types "${separator}" types)
endmacro()

function(espalier_write_op_headers)
  espalier_read_op_list()
  set(folder "${ESPALIER_GENERATED_DIR}/espalier/ops")

  espalier_render_ops(",\n                        " ${op_names})
  file(CONFIGURE OUTPUT "${folder}/all.h" @ONLY CONTENT [[
/// Every op of the library, as written in espalier/ops/list.txt. Made by the build; change the list instead.
#pragma once

@includes@#include "espalier/ops/type_list.h"

namespace espalier::ops {

using AllOps = TypeList<@types@>;

}  // namespace espalier::ops
]])

  espalier_render_ops(", " ${map_names})
  file(CONFIGURE OUTPUT "${folder}/all_maps_simd.h" @ONLY CONTENT [[
/// Every map of the library, as written in espalier/ops/list.txt. No guard: included once for each SIMD target.
@includes@
#ifndef ESPALIER_MAP_OPS
#define ESPALIER_MAP_OPS @types@
#endif
]])
endfunction()

espalier_write_op_headers()
