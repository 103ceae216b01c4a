# link_cuda(layer LIBRARIES target… HEADERS folder… SOURCES file…): the layer links the libraries, and the sources named
# see the headers. The layer's other sources compile as in a build without CUDA, and ccache knows them from there.
function(link_cuda layer)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LIBRARIES;HEADERS;SOURCES")
  list(TRANSFORM ARG_LIBRARIES REPLACE "(.+)" "$<LINK_ONLY:\\1>")
  target_link_libraries(${layer} PRIVATE ${ARG_LIBRARIES})
  list(REMOVE_ITEM ARG_HEADERS ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})  # which have an order of their own
  list(REMOVE_DUPLICATES ARG_HEADERS)
  list(TRANSFORM ARG_HEADERS REPLACE "(.+)" "-isystem;\\1")
  set_property(SOURCE ${ARG_SOURCES} APPEND PROPERTY COMPILE_OPTIONS ${ARG_HEADERS})
endfunction()
