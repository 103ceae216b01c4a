# add_isa_objects(target SOURCES file… [OPTIONS flag…]): the same kernel sources once per instruction set, as
# part of the target, with its include roots; one is chosen at run time. See src/core/device/isa.h.
function(add_isa_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;OPTIONS")
  foreach(isa generic avx2 avx512)
    set(objects ${target}_${isa})
    add_library(${objects} OBJECT ${ARG_SOURCES})
    target_compile_definitions(${objects} PRIVATE INGOT_ISA=${isa} INGOT_ISA_${isa})
    target_compile_options(${objects} PRIVATE ${ARG_OPTIONS})
    target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_link_libraries(${objects} PRIVATE ingot_options core $<$<STREQUAL:${isa},avx512>:ingot_avx512>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
