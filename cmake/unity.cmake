# Builds from nothing, as those of .ci/run, compile the files of a folder as one: what they include is read once, and
# what they all instantiate is compiled once. Builds after a change are faster without.
option(ESPALIER_UNITY "Compile the files of each folder as one" OFF)

# What follows from it for a target. Files that compile themselves for each SIMD target stay alone.
function(espalier_unite target)
  if(NOT ESPALIER_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder STEM group)
    file(STRINGS "${source}" per_simd_target REGEX "hwy/foreach_target\\.h" LIMIT_COUNT 1)
    if(per_simd_target)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A type of a source file may have members of types that only that file knows: it is included, but it is no header.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()
