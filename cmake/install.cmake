# `cmake --install` installs the library, its headers, the files that make find_package(Espalier) work, and the docs.
include(CMakePackageConfigHelpers)

file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/espalier/*.h")
list(FILTER public_headers EXCLUDE REGEX "^espalier/(cli|[a-z]+/[a-z]+)/|-inl\\.h$")  # rooms of a layer are internal

# Headers that only the library itself includes.
set(internal_headers
  espalier/base/at.h
  espalier/base/nearest.h
  espalier/blocks/access.h
  espalier/blocks/build.h
  espalier/blocks/code.h
  espalier/blocks/collect.h
  espalier/blocks/data_place.h
  espalier/blocks/elements.h
  espalier/blocks/emitter.h
  espalier/blocks/function_block.h
  espalier/blocks/inference.h
  espalier/blocks/key_reader.h
  espalier/blocks/memo_table.h
  espalier/blocks/model_copy.h
  espalier/blocks/node.h
  espalier/blocks/numbers.h
  espalier/blocks/record_node.h
  espalier/blocks/refused_data.h
  espalier/blocks/root_input.h
  espalier/blocks/term.h
  espalier/blocks/walk.h
  espalier/blocks/zeros.h
  espalier/cells/any_children.h
  espalier/cells/frame.h
  espalier/cells/intervals.h
  espalier/cells/kind_rows.h
  espalier/cells/layout.h
  espalier/cells/program.h
  espalier/cells/program_run.h
  espalier/cells/record_use.h
  espalier/cells/recursion_order.h
  espalier/cells/recursion_program.h
  espalier/cells/recursion_rows.h
  espalier/cells/row_fields.h
  espalier/cells/row_list.h
  espalier/cells/trace.h
  espalier/control/answers.h
  espalier/control/segments.h
  espalier/data/byte_file.h
  espalier/data/json_error.h
  espalier/data/listops_stack.h
  espalier/data/molecule_rdkit.h
  espalier/data/number_text.h
  espalier/data/proto_decode.h
  espalier/data/proto_delimited.h
  espalier/data/proto_schema.h
  espalier/data/proto_wire.h
  espalier/data/proto_writer.h
  espalier/data/sexpr_atom.h
  espalier/data/short_text.h
  espalier/data/text_source.h
  espalier/data/value_payload.h
  espalier/exec/all_or_nothing.h
  espalier/exec/ancestors.h
  espalier/exec/executor.h
  espalier/exec/node_call.h
  espalier/exec/node_table.h
  espalier/exec/parameter_versions.h
  espalier/exec/row_index.h
  espalier/exec/run_memory.h
  espalier/exec/stopwatch.h
  espalier/exec/traced.h
  espalier/graph/kept_instance.h
  espalier/graph/library_ops.h
  espalier/graph/limits.h
  espalier/graph/repeat_shared.h
  espalier/kernels/grain.h
  espalier/kernels/onednn.h
  espalier/kernels/outer_product.h
  espalier/kernels/row_sum.h
  espalier/kernels/simd_limit.h
  espalier/kernels/sizes.h
  espalier/kernels/small_product.h
  espalier/kernels/transpose.h
  espalier/models/json_inference.h
  espalier/models/json_samples.h
  espalier/models/lattice_encoders.h
  espalier/models/model_of.h
  espalier/models/molecule_features.h
  espalier/models/plan_features.h
  espalier/models/registry.h
  espalier/models/standard_scale.h
  espalier/models/tag_records.h
  espalier/models/text_lists.h
  espalier/models/tree_encoders.h
  espalier/models/vectors.h
  espalier/models/words.h
  espalier/nn/gates.h
  espalier/nn/safetensors_header.h
  espalier/onnx/body.h
  espalier/onnx/emissions.h
  espalier/onnx/emitter.h
  espalier/onnx/format.h
  espalier/onnx/lower.h
  espalier/onnx/messages.h
  espalier/onnx/read_file.h
  espalier/onnx/schedule.h
  espalier/onnx/write_graph.h
  espalier/optim/adam_rule.h
  espalier/optim/call_text.h
  espalier/plan/holes.h
  espalier/plan/pieces.h
  espalier/plan/place.h
  espalier/plan/plan.h
  espalier/plan/planner.h
  espalier/plan/problem.h
  espalier/plan/workspace.h
  espalier/report/chart_frame.h
  espalier/report/page_sections.h
  espalier/report/page_style.h
  espalier/show/advice.h
  espalier/show/colour.h
  espalier/show/json_text.h
  espalier/show/layout.h
  espalier/show/page_parts.h
  espalier/show/picture.h
  espalier/show/times.h
  espalier/train/answer_pairs.h
  espalier/train/checkpoint.h
  espalier/train/gradient_maker.h
  espalier/train/groups.h
  espalier/train/long_curve.h
  espalier/train/minibatches.h
  espalier/train/not_finite.h
  espalier/train/ranks.h
  espalier/train/report_curves.h
  espalier/train/run_folder.h
  espalier/train/run_state.h
  espalier/train/stop_signals.h
  espalier/train/trainer_options.h
  espalier/train/training_run.h
  espalier/train/weight_average.h)
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

install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
