# Everything comes from packages of Debian 12 or 13, whose upstream versions stay as they are for the
# life of the release: the versions below are the one's and, where it differs, the other's. Others are
# refused, since numbers and speed were verified with these. docs/dependencies.md says what each is for.
function(expect_version name found)  # expect_version(name found VERSION…)
  foreach(version ${ARGN})
    if("${found}" MATCHES "^${version}(\\.|$)")
      return()
    endif()
  endforeach()
  list(JOIN ARGN " or " expected)
  message(FATAL_ERROR "${name}: expected version ${expected} (Debian 12, 13), got «${found}»; "
                      "to try another, change cmake/dependencies.cmake and run the tests")
endfunction()

macro(pin_package name)  # pin_package(name VERSION…): a library that brings a CMake package
  find_package(${name} REQUIRED)
  expect_version(${name} "${${name}_VERSION}" ${ARGN})
endmacro()

# pin_header(name header macros VERSION…): a library without a (usable) CMake package; `macros` in
# `header` spell its version.
macro(pin_header name header macros)
  find_path(${name}_INCLUDE ${header} REQUIRED)
  set(${name}_VERSION "")
  foreach(macro ${macros})
    file(STRINGS ${${name}_INCLUDE}/${header} ${name}_LINE REGEX "define +${macro} +[0-9]+")
    string(REGEX REPLACE ".*${macro} +([0-9]+).*" "\\1" ${name}_PART "${${name}_LINE}")
    string(APPEND ${name}_VERSION "${${name}_PART}.")
  endforeach()
  expect_version(${name} ${${name}_VERSION} ${ARGN})
endmacro()

find_package(Threads REQUIRED)
pin_package(fmt 9.1 10.1)
pin_package(spdlog 1.10 1.15)
pin_package(nlohmann_json 3.11)
pin_package(GTest 1.12 1.15)  # so says that of 1.16.0
pin_package(tomlplusplus 3.3 3.4)
# libsentencepiece's headers do not say their version; its pkg-config file does.
find_path(SENTENCEPIECE_INCLUDE sentencepiece_trainer.h REQUIRED)
find_library(SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train REQUIRED)
cmake_path(GET SENTENCEPIECE_LIBRARY PARENT_PATH folder)
file(STRINGS ${folder}/pkgconfig/sentencepiece.pc SENTENCEPIECE_VERSION REGEX "^Version:")
string(REGEX REPLACE "^Version: *" "" SENTENCEPIECE_VERSION "${SENTENCEPIECE_VERSION}")
expect_version(SentencePiece "${SENTENCEPIECE_VERSION}" 0.1.97 0.2.0)
pin_header(ONIGURUMA oniguruma.h "ONIGURUMA_VERSION_MAJOR;ONIGURUMA_VERSION_MINOR" 6.9)
find_library(ONIGURUMA_LIBRARY onig REQUIRED)
# Static: the program must start where these are not installed.
pin_header(XXHASH xxhash.h "XXH_VERSION_MAJOR;XXH_VERSION_MINOR" 0.8)
find_library(XXHASH_LIBRARY libxxhash.a REQUIRED)
pin_header(UTF8PROC utf8proc.h "UTF8PROC_VERSION_MAJOR;UTF8PROC_VERSION_MINOR" 2.8 2.9)
find_library(UTF8PROC_LIBRARY libutf8proc.a REQUIRED)
pin_header(ZSTD zstd.h "ZSTD_VERSION_MAJOR;ZSTD_VERSION_MINOR" 1.5)
find_library(ZSTD_LIBRARY libzstd.a REQUIRED)
pin_header(ZLIB zlib.h "ZLIB_VER_MAJOR;ZLIB_VER_MINOR" 1.2 1.3)
find_library(ZLIB_LIBRARY libz.a REQUIRED)
pin_package(yaml-cpp 0.7 0.8)
find_library(YAML_CPP_LIBRARY libyaml-cpp.a REQUIRED)
find_package(CURL REQUIRED)
expect_version(libcurl "${CURL_VERSION_STRING}" 7.88 8.14)
# Arrow comes in a wheel: headers and libraries, without the names that linkers look for. A build
# without it lacks the module for parquet and S3, and nothing else.
file(GLOB arrow_wheel ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/pyarrow)
find_path(ARROW_INCLUDE parquet/arrow/reader.h PATHS ${arrow_wheel}/include NO_DEFAULT_PATH)
if(ARROW_INCLUDE)
  pin_header(ARROW arrow/util/config.h "ARROW_VERSION_MAJOR;ARROW_VERSION_MINOR" 26.0)
  cmake_path(GET ARROW_INCLUDE PARENT_PATH ARROW_FOLDER)
  foreach(library arrow parquet arrow_s3)
    add_library(Arrow::${library} SHARED IMPORTED)
    set_target_properties(Arrow::${library} PROPERTIES IMPORTED_LOCATION ${ARROW_FOLDER}/lib${library}.so.2600)
    target_include_directories(Arrow::${library} SYSTEM INTERFACE ${ARROW_INCLUDE})
  endforeach()
else()
  message(STATUS "No Arrow (pip install -r tools/requirements-arrow.txt into .venv): parquet files and s3:// will not be read")
endif()
# Whatever MPI the machine has, since clusters come with theirs; a build without it lacks the module for it.
if(parallel IN_LIST INGOT_LAYERS)
  set(MPI_CXX_SKIP_MPICXX ON)  # the C interface alone
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    message(STATUS "No MPI (Debian package libopenmpi-dev): system.backend = mpi will not work")
  endif()
endif()
if(INGOT_CUDA)
  find_package(CUDAToolkit 13 REQUIRED)
  # cuDNN lies beside the toolkit, in its wheel, or where the system keeps such things; its frontend is
  # headers from another wheel.
  file(GLOB site_packages ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages)
  find_path(CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${site_packages}/nvidia/cudnn/include)
  cmake_path(GET CUDNN_INCLUDE PARENT_PATH folder)
  find_library(CUDNN_LIBRARY libcudnn.so.9 HINTS ${folder} PATH_SUFFIXES lib lib64)
  find_path(CUDNN_FRONTEND_INCLUDE cudnn_frontend.h HINTS ${site_packages}/include)
  if(NOT CUDNN_INCLUDE OR NOT CUDNN_LIBRARY OR NOT CUDNN_FRONTEND_INCLUDE)
    message(FATAL_ERROR "cuDNN 9 or its frontend is missing; ./run cuda installs them (pip install -r "
                        "tools/requirements-cudnn.txt -r tools/requirements-cuda.txt into .venv)")
  endif()
  # Headers only: cuDNN itself and the driver are loaded when attention first runs on a GPU, so that
  # the program starts, and says what is missing, on a machine without them.
  add_library(CUDNN::frontend INTERFACE IMPORTED)
  target_link_libraries(CUDNN::frontend INTERFACE ${CMAKE_DL_LIBS})
  # What is loaded by name is looked for in the folders that the program was linked with: cuDNN's has
  # to be one of them where the system would not look.
  cmake_path(GET CUDNN_LIBRARY PARENT_PATH folder)
  if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    target_link_options(CUDNN::frontend INTERFACE LINKER:-rpath,${folder})
  endif()
  # NCCL likewise: headers here, the library when ranks are processes with GPUs of their own. A build
  # without it lacks that backend, and nothing else.
  find_path(NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${site_packages}/nvidia/nccl/include)
  if(NCCL_INCLUDE)
    add_library(NCCL::nccl INTERFACE IMPORTED)
    target_link_libraries(NCCL::nccl INTERFACE ${CMAKE_DL_LIBS})
    cmake_path(GET NCCL_INCLUDE PARENT_PATH folder)
    find_library(NCCL_LIBRARY libnccl.so.2 HINTS ${folder} PATH_SUFFIXES lib lib64)
    cmake_path(GET NCCL_LIBRARY PARENT_PATH folder)
    if(NCCL_LIBRARY AND NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      target_link_options(NCCL::nccl INTERFACE LINKER:-rpath,${folder})
    endif()
  else()
    message(STATUS "No NCCL (pip install -r tools/requirements-nccl.txt into .venv): system.backend = nccl will not work")
  endif()
endif()
if(ops IN_LIST INGOT_LAYERS)  # for bench/ only, where our kernels meet a vendor's
  find_package(OpenMP REQUIRED)
  # libdnnl-dev's own CMake package asks for OpenCL headers that the Debian package does not bring.
  pin_header(DNNL oneapi/dnnl/dnnl_version.h "DNNL_VERSION_MAJOR;DNNL_VERSION_MINOR" 2.6 3.7)
  find_library(DNNL_LIBRARY dnnl REQUIRED)
  add_library(DNNL::dnnl SHARED IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY})
endif()
