# The shared library. Its objects are a target of their own: tests and benches link them directly, since they reach
# functions that the shared library hides.
file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/espalier/*.cc")
list(FILTER library_sources EXCLUDE REGEX "/espalier/cli/")
if(NOT ESPALIER_PROTOBUF)  # nothing else in the library calls these files
  list(FILTER library_sources EXCLUDE REGEX "/data/proto(_schema|_decode|_delimited)?\\.cc$")
endif()

set(library_dependencies espalier_compiler espalier_dnnl hwy::hwy fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB
    simdjson::simdjson $<$<BOOL:${ESPALIER_PROTOBUF}>:protobuf::libprotobuf> Threads::Threads espalier_rdkit)

# Fuzzing is about what reads files and texts. The engine below does not: there it is compiled without optimisation and
# sanitizers, which takes a third of the time.
if(ESPALIER_BUILD_FUZZ)
  set(engine_sources ${library_sources})
  list(FILTER engine_sources INCLUDE REGEX "/espalier/(kernels|graph|batch|ops|cells|plan|exec|report|show|blocks)/")
  list(FILTER engine_sources EXCLUDE REGEX "/blocks/type\\.cc$")  # reads text
  list(REMOVE_ITEM library_sources ${engine_sources})
  add_library(espalier_engine_objects OBJECT ${engine_sources})
  espalier_unite(espalier_engine_objects)
  target_include_directories(espalier_engine_objects PUBLIC "${PROJECT_SOURCE_DIR}" "${ESPALIER_GENERATED_DIR}")
  target_link_libraries(espalier_engine_objects PUBLIC ${library_dependencies})
  target_compile_options(espalier_engine_objects PRIVATE -O0 -fno-sanitize=all)
endif()

add_library(espalier_objects OBJECT ${library_sources})
espalier_unite(espalier_objects)
target_include_directories(espalier_objects PUBLIC "${PROJECT_SOURCE_DIR}" "${ESPALIER_GENERATED_DIR}")
target_link_libraries(espalier_objects PUBLIC ${library_dependencies})

# What nearly every file includes. The dev preset does without, so that lint sees a file that lacks an include.
target_precompile_headers(espalier_objects PRIVATE <algorithm> <array> <cmath> <cstring> <functional> <map> <memory>
  <span> <string> <unordered_map> <vector> <fmt/format.h> "${PROJECT_SOURCE_DIR}/espalier/graph/graph.h")

add_library(espalier SHARED)
add_library(Espalier::espalier ALIAS espalier)
set_target_properties(espalier PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(espalier PUBLIC cxx_std_20)
target_include_directories(espalier PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
  "$<BUILD_INTERFACE:${ESPALIER_GENERATED_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(espalier PRIVATE espalier_objects)
if(NOT ESPALIER_SANITIZE)  # whose own functions the program brings
  target_link_options(espalier PRIVATE -Wl,--no-undefined)
endif()
