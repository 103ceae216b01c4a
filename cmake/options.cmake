# What every target is compiled with. Debug info stays on in every build: a stack trace from a
# user's run is worth the disk space.
add_library(ingot_options INTERFACE)
target_compile_options(ingot_options INTERFACE -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion
  -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -fno-omit-frame-pointer)

set(INGOT_SANITIZE "" CACHE STRING "address, undefined or thread; empty for none")
if(INGOT_SANITIZE)
  add_compile_options(-fsanitize=${INGOT_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${INGOT_SANITIZE})
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
