# add_layer_tests(layer [NAME name] SOURCES file… [LINK target…] [ALONE filter] [SLOW filter]): a GoogleTest
# program test_<name>, by default the layer's, its tests registered one by one with ctest. Of the filters (of
# GoogleTest, without «-»), those that ALONE names never run beside others, and those that SLOW names have the label
# slow: only `./run test-slow` runs them. Tests see the include roots of the layer they test plus the shared helpers
# under tests/support.
include(GoogleTest)
function(add_layer_tests layer)
  cmake_parse_arguments(ARG "" "NAME;ALONE;SLOW" "SOURCES;LINK" ${ARGN})
  set(name ${layer})
  if(ARG_NAME)
    set(name ${ARG_NAME})
  endif()
  set(target test_${name})
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/include/${layer} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE ingot_options test_options ${layer} ${ARG_LINK} GTest::gtest_main)
  precompile(${target} test_headers)
  set(discover ${target} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  set(special ${ARG_ALONE} ${ARG_SLOW})
  if(ARG_ALONE)
    gtest_discover_tests(${discover} TEST_FILTER ${ARG_ALONE} PROPERTIES LABELS ${name} RUN_SERIAL ON)
  endif()
  if(ARG_SLOW)
    gtest_discover_tests(${discover} TEST_FILTER ${ARG_SLOW} PROPERTIES LABELS "${name};slow")
  endif()
  if(special)
    list(JOIN special ":" special)
    set(others TEST_FILTER "-${special}")
  endif()
  gtest_discover_tests(${discover} ${others} PROPERTIES LABELS ${name})
endfunction()

# add_fuzz_target(name): tests/fuzz/<name>.cpp, which defines LLVMFuzzerTestOneInput.
# With INGOT_FUZZ it becomes a libFuzzer program fuzz_<name>. In every other build it becomes a function
# fuzz_<name> of the program fuzz_replay, which replays the corpus and some thousand fixed mutations of it as
# the ctest test fuzz.<name>: forty programs would link the same libraries.
function(add_fuzz_target name)
  if(INGOT_FUZZ)
    add_executable(fuzz_${name} ${name}.cpp)
    see_parsers(fuzz_${name})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_replay PRIVATE ${name}.cpp)
    set_source_files_properties(${name}.cpp PROPERTIES COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=fuzz_${name})
    add_test(NAME fuzz.${name} COMMAND fuzz_replay ${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name} 20000)
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 300)
    if(EXISTS /dev/shm)  # parsers of files: 20,000 inputs take a minute through a disk, a second without
      set_tests_properties(fuzz.${name} PROPERTIES ENVIRONMENT TMPDIR=/dev/shm)
    endif()
  endif()
endfunction()

function(see_parsers target)
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/include/ingest ${CMAKE_BINARY_DIR}/include/feed)
  target_link_libraries(${target} PRIVATE ingot_options ingest feed)
  precompile(${target} common_headers)
endfunction()
