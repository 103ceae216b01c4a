# add_layer(name RANK n DEPS layer… SOURCES file… [LINK target…])
#
# One folder is one target. An include may only go to a layer of smaller rank that DEPS lists: each
# target gets an include root of its own in the build tree, holding links to itself and to the
# layers it lists, so any other #include does not resolve. An edge that does not go down in rank
# stops the configuration. tests/layering proves all three.
set_property(GLOBAL PROPERTY GLOBAL_DEPENDS_NO_CYCLES ON)

function(add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "RANK" "DEPS;SOURCES;LINK")
  if(NOT ARG_RANK MATCHES "^[0-9]+$" OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_layer(${name} …): expected RANK n DEPS … SOURCES … LINK …, got ${ARGN}")
  endif()
  set_property(GLOBAL PROPERTY INGOT_RANK_${name} ${ARG_RANK})
  set(root ${CMAKE_BINARY_DIR}/include/${name})
  file(REMOVE_RECURSE ${root})  # a dependency that was taken out must not stay visible
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${name} ${root}/${name} SYMBOLIC)
  foreach(layer ${ARG_DEPS})
    get_property(rank GLOBAL PROPERTY INGOT_RANK_${layer})
    if("${rank}" STREQUAL "")
      message(FATAL_ERROR "layer ${name} uses ${layer}, which is not a layer built before it: "
                          "layers are listed lowest rank first; see docs/architecture.md")
    elseif(rank GREATER_EQUAL ARG_RANK)
      message(FATAL_ERROR "layer ${name} (rank ${ARG_RANK}) may not use ${layer} (rank ${rank}): "
                          "an include may only go to a smaller rank; see docs/architecture.md")
    endif()
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${layer} ${root}/${layer} SYMBOLIC)
  endforeach()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PRIVATE ${root})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE ingot_options PUBLIC ${ARG_LINK})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS} ${ARG_LINK})
  endif()
endfunction()
