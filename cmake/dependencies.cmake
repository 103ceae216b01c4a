# Everything comes from Debian 12 packages, whose upstream versions stay as they are for the life of
# the release; these are what the tests ran with. docs/dependencies.md says what each is for.

# pin(name version): finds the package and refuses another upstream version, since numbers and speed
# were verified with this one.
macro(pin name version)
  find_package(${name} ${version} REQUIRED)
  if(NOT "${${name}_VERSION}" MATCHES "^${version}(\\.|$)")
    message(FATAL_ERROR "${name}: expected version ${version} (Debian 12), got ${${name}_VERSION}; "
                        "try it by changing cmake/dependencies.cmake and running the tests")
  endif()
endmacro()

find_package(Threads REQUIRED)
pin(fmt 9.1)
pin(spdlog 1.10)
pin(nlohmann_json 3.11)
pin(GTest 1.12)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
if(cli IN_LIST INGOT_LAYERS)
  pin(CLI11 2.1)
endif()
if(ops IN_LIST INGOT_LAYERS)  # the fuzzers build the parsers alone, with a compiler that has no OpenMP
  pin(dnnl 2.6)
  pin(benchmark 1.7)
  find_package(OpenMP REQUIRED)
endif()
