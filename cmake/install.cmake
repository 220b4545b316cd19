# What `cmake --install` gives: the library, its headers, and the files that make find_package(Espalier) work.
include(CMakePackageConfigHelpers)

file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/espalier/*.h")
list(FILTER public_headers EXCLUDE REGEX "^espalier/cli/|-inl\\.h$")

# Headers that only the library itself includes.
set(internal_headers
  espalier/base/at.h
  espalier/blocks/access.h
  espalier/blocks/build.h
  espalier/blocks/code.h
  espalier/blocks/collect.h
  espalier/blocks/elements.h
  espalier/blocks/emitter.h
  espalier/blocks/function_block.h
  espalier/blocks/inference.h
  espalier/blocks/key_reader.h
  espalier/blocks/memo_table.h
  espalier/blocks/node.h
  espalier/blocks/numbers.h
  espalier/blocks/record_node.h
  espalier/blocks/root_input.h
  espalier/blocks/term.h
  espalier/blocks/walk.h
  espalier/blocks/zeros.h
  espalier/cells/frame.h
  espalier/cells/layout.h
  espalier/cells/program.h
  espalier/cells/program_run.h
  espalier/cells/recursion_order.h
  espalier/cells/recursion_program.h
  espalier/cells/row_list.h
  espalier/cells/trace.h
  espalier/data/byte_file.h
  espalier/data/json_error.h
  espalier/data/listops_stack.h
  espalier/data/proto_decode.h
  espalier/data/proto_delimited.h
  espalier/data/proto_schema.h
  espalier/data/proto_wire.h
  espalier/data/sexpr_atom.h
  espalier/data/text_source.h
  espalier/data/utf8.h
  espalier/data/value_payload.h
  espalier/exec/aligned_rows.h
  espalier/exec/ancestors.h
  espalier/exec/backward.h
  espalier/exec/backward_group.h
  espalier/exec/backward_lists.h
  espalier/exec/collect.h
  espalier/exec/deferred.h
  espalier/exec/engine.h
  espalier/exec/equal_rows.h
  espalier/exec/executor.h
  espalier/exec/forward.h
  espalier/exec/leaf_gradients.h
  espalier/exec/ledger.h
  espalier/exec/memo.h
  espalier/exec/node_call.h
  espalier/exec/node_table.h
  espalier/exec/parameters.h
  espalier/exec/plan_cache.h
  espalier/exec/reference.h
  espalier/exec/report.h
  espalier/exec/run_memory.h
  espalier/exec/shared_gradients.h
  espalier/exec/step_pieces.h
  espalier/exec/step_view.h
  espalier/exec/step_views.h
  espalier/exec/stopwatch.h
  espalier/graph/library_ops.h
  espalier/kernels/grain.h
  espalier/kernels/onednn.h
  espalier/kernels/outer_product.h
  espalier/kernels/row_sum.h
  espalier/kernels/sizes.h
  espalier/kernels/small_product.h
  espalier/kernels/transpose.h
  espalier/nn/gates.h
  espalier/nn/safetensors_header.h
  espalier/optim/adam_rule.h
  espalier/plan/holes.h
  espalier/plan/pieces.h
  espalier/plan/place.h
  espalier/plan/plan.h
  espalier/plan/problem.h
  espalier/plan/workspace.h)
list(REMOVE_ITEM public_headers ${internal_headers})

foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
endforeach()
install(FILES "${ESPALIER_GENERATED_DIR}/espalier/ops/all.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/espalier/ops")

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Espalier")
install(TARGETS espalier EXPORT EspalierTargets LIBRARY)
install(EXPORT EspalierTargets NAMESPACE Espalier:: FILE EspalierConfig.cmake DESTINATION "${package_folder}")
write_basic_package_version_file(EspalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/EspalierConfigVersion.cmake" DESTINATION "${package_folder}")
