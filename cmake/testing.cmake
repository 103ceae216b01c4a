# add_layer_tests(layer SOURCES file… [LINK target…]): one GoogleTest program per layer, its tests
# registered one by one with ctest. Tests see the include roots of the layer they test plus the
# shared helpers under tests/support.
include(GoogleTest)
function(add_layer_tests layer)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  set(target test_${layer})
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/include/${layer} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE ingot_options ${layer} ${ARG_LINK} GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    INGOT_SOURCE_DIR="${CMAKE_SOURCE_DIR}" INGOT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  gtest_discover_tests(${target} TEST_PREFIX ${layer}. DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${layer})
endfunction()
