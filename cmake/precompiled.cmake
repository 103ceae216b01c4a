# precompile(target headers): the headers that most sources begin with are parsed once for all targets,
# not once a file: a second less for each, three with GoogleTest. A source still includes what it uses:
# the cpu-lint preset, which `./run tidy` reads, goes without this. g++ only: ccache knows its
# precompiled headers.
function(precompile target headers)
  get_target_property(type ${target} TYPE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT type STREQUAL INTERFACE_LIBRARY)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

function(add_precompiled name headers)  # and the targets whose options users have
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ingot_options ${ARGN})
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

set(common <algorithm> <array> <chrono> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view>
  <thread> <unordered_map> <vector> <fmt/format.h>)
add_precompiled(common_headers "${common}" fmt::fmt)
add_precompiled(test_headers "${common};<filesystem>;<sstream>;<gtest/gtest.h>" fmt::fmt GTest::gtest test_options)
