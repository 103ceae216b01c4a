# add_isa_objects(target SOURCES file… [OPTIONS flag…]): the same kernel sources once per instruction set, as
# part of the target, with its include roots; one is chosen at run time. See src/core/device/isa.h.
function(add_isa_objects target)
  add_objects_for(${target} ISAS generic avx2 avx512 ${ARGN})
endfunction()

# The same for kernels with instructions for dot products: DotIsa in src/core/device/isa.h.
function(add_dot_objects target)
  add_objects_for(${target}_dot TARGET ${target} ISAS generic avx2 avx512 avx2_vnni avx512_vnni avx512_bf16 ${ARGN})
endfunction()

function(add_objects_for name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TARGET" "ISAS;SOURCES;OPTIONS")
  set(target ${name})
  if(ARG_TARGET)
    set(target ${ARG_TARGET})
  endif()
  foreach(isa ${ARG_ISAS})
    string(REGEX REPLACE "_.*" "" base ${isa})
    set(objects ${name}_${isa})
    add_library(${objects} OBJECT ${ARG_SOURCES})
    target_compile_definitions(${objects} PRIVATE INGOT_ISA=${isa} INGOT_ISA_${base}
      $<$<NOT:$<STREQUAL:${isa},${base}>>:INGOT_VNNI> $<$<STREQUAL:${isa},avx512_bf16>:INGOT_BF16_DOT>)
    target_compile_options(${objects} PRIVATE ${ARG_OPTIONS})
    target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_link_libraries(${objects} PRIVATE ingot_options core $<$<STREQUAL:${base},avx512>:ingot_avx512>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
