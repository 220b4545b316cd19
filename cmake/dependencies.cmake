# What the project is built with. Users of the installed library need none of it: everything is linked privately.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
find_package(nlohmann_json REQUIRED)
if(NOT ESPALIER_LIBRARY_ONLY)
  find_package(CLI11 REQUIRED)
endif()
find_package(simdjson REQUIRED)
option(ESPALIER_PROTOBUF "Read protocol buffers; without it, the library has no ProtoReader" ON)
if(ESPALIER_PROTOBUF)
  find_package(Protobuf REQUIRED)
endif()

# oneDNN's own CMake file asks for OpenCL headers, which the library does not need: find it directly.
find_path(ESPALIER_DNNL_INCLUDE dnnl.h REQUIRED)
find_library(ESPALIER_DNNL_LIBRARY dnnl REQUIRED)
add_library(espalier_dnnl INTERFACE)
target_include_directories(espalier_dnnl SYSTEM INTERFACE "${ESPALIER_DNNL_INCLUDE}")
# libgomp only for omp_set_num_threads: oneDNN is threaded by it, and is to be called with one thread.
target_link_libraries(espalier_dnnl INTERFACE "${ESPALIER_DNNL_LIBRARY}" gomp)

# RDKit reads molecules. Its headers need Boost's.
set(ESPALIER_RDKIT AUTO CACHE STRING "Read molecules with RDKit: AUTO (if it is there), ON or OFF")
set_property(CACHE ESPALIER_RDKIT PROPERTY STRINGS AUTO ON OFF)
add_library(espalier_rdkit INTERFACE)
if(NOT ESPALIER_RDKIT STREQUAL "OFF")
  find_path(ESPALIER_RDKIT_INCLUDE GraphMol/GraphMol.h PATH_SUFFIXES rdkit)
  find_path(ESPALIER_BOOST_INCLUDE boost/graph/adjacency_list.hpp)
  set(rdkit_libraries)
  foreach(part IN ITEMS GraphMol SmilesParse FileParsers RDGeneral)
    find_library(ESPALIER_RDKIT_${part} RDKit${part})
    list(APPEND rdkit_libraries "${ESPALIER_RDKIT_${part}}")
  endforeach()
endif()
if(ESPALIER_RDKIT_INCLUDE AND ESPALIER_BOOST_INCLUDE AND NOT rdkit_libraries MATCHES "NOTFOUND"
    AND NOT ESPALIER_RDKIT STREQUAL "OFF")
  set(ESPALIER_HAS_RDKIT 1)
  set(rdkit_options -isystem "${ESPALIER_RDKIT_INCLUDE}")
  target_link_libraries(espalier_rdkit INTERFACE ${rdkit_libraries})
elseif(ESPALIER_RDKIT STREQUAL "ON")
  message(FATAL_ERROR "ESPALIER_RDKIT is ON, but RDKit is not there: install librdkit-dev and libboost-dev")
else()
  set(ESPALIER_HAS_RDKIT 0)
  message(STATUS "Without RDKit (librdkit-dev, libboost-dev): molecules cannot be read")
endif()

# Only one file sees its headers, which are large: it is compiled alone.
set_source_files_properties("${PROJECT_SOURCE_DIR}/espalier/data/molecule_rdkit.cc" PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON
  COMPILE_DEFINITIONS ESPALIER_HAS_RDKIT=${ESPALIER_HAS_RDKIT} COMPILE_OPTIONS "${rdkit_options}")

if(ESPALIER_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(benchmark REQUIRED)
endif()
