# The files of a layer, with its rooms, can be compiled as one: headers are read once and templates instantiated once,
# which halves the time of a build from nothing. After a change to one file, a build without it is faster (the dev
# preset).
option(ESPALIER_UNITY "Compile the files of each layer as one" OFF)

# What follows from it for a target. Files that compile themselves for each SIMD target stay alone.
function(espalier_unite target)
  if(NOT ESPALIER_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder STEM group)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    if(folder MATCHES "^espalier/([^/]+)/")  # a room of a layer
      set(group "${CMAKE_MATCH_1}")
    endif()
    file(STRINGS "${source}" per_simd_target REGEX "hwy/foreach_target\\.h" LIMIT_COUNT 1)
    if(per_simd_target)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A type of a source file may have members of types that only that file knows: it is included, but it is no header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
