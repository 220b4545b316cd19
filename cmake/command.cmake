# The command `espalier`, at the top of the build folder. All but main() are objects of their own, for the tests and for
# `espalier-bench` (bench/CMakeLists.txt).
file(GLOB command_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/espalier/cli/*.cc")
set(command_main "${PROJECT_SOURCE_DIR}/espalier/cli/main.cc")
list(REMOVE_ITEM command_sources "${command_main}")

# The text of `espalier blocks`, from the headers. It is made here and not by the build, so that lint finds it.
set(block_reference "${PROJECT_SOURCE_DIR}/tools/block_reference")
file(GLOB block_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/espalier/blocks/*.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${block_reference}" ${block_headers})
execute_process(COMMAND "${block_reference}" page ${block_headers} OUTPUT_VARIABLE block_pages
  COMMAND_ERROR_IS_FATAL ANY)
file(CONFIGURE OUTPUT "${ESPALIER_GENERATED_DIR}/espalier/cli/block_reference.h" @ONLY CONTENT [[
/// What `espalier blocks` prints, from the headers of blocks. Made by the build; change the headers instead.
#pragma once

#include <string_view>

namespace espalier::cli {

inline constexpr std::string_view kBlockReference = R"page(@block_pages@)page";

}  // namespace espalier::cli
]])

add_library(espalier_cli_objects OBJECT ${command_sources})
espalier_unite(espalier_cli_objects)
target_link_libraries(espalier_cli_objects PUBLIC espalier_compiler espalier fmt::fmt CLI11::CLI11
  nlohmann_json::nlohmann_json Threads::Threads)
# The command is thin: all its time goes into the library, and most of its own compile time into CLI11 and JSON.
target_compile_options(espalier_cli_objects PRIVATE -O1)
if(NOT ESPALIER_UNITY)  # with it there is one file to compile
  target_precompile_headers(espalier_cli_objects PRIVATE <CLI/CLI.hpp> <nlohmann/json.hpp> <fmt/format.h>)
endif()
target_compile_definitions(espalier_cli_objects PRIVATE "ESPALIER_VERSION=\"${PROJECT_VERSION}\"")

add_executable(espalier_command "${command_main}")
set_target_properties(espalier_command PROPERTIES OUTPUT_NAME espalier
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
target_link_libraries(espalier_command PRIVATE espalier_cli_objects)
install(TARGETS espalier_command RUNTIME)
