# What the project is built with. Users of the installed library need none of it: everything is linked privately.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(simdjson REQUIRED)
find_package(Protobuf REQUIRED)

# oneDNN's own CMake file asks for OpenCL headers, which the library does not need: find it directly.
find_path(ESPALIER_DNNL_INCLUDE dnnl.h REQUIRED)
find_library(ESPALIER_DNNL_LIBRARY dnnl REQUIRED)
add_library(espalier_dnnl INTERFACE)
target_include_directories(espalier_dnnl SYSTEM INTERFACE "${ESPALIER_DNNL_INCLUDE}")
# libgomp only for omp_set_num_threads: oneDNN is threaded by it, and is to be called with one thread.
target_link_libraries(espalier_dnnl INTERFACE "${ESPALIER_DNNL_LIBRARY}" gomp)

if(ESPALIER_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(benchmark REQUIRED)
endif()
