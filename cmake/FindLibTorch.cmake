# Finds LibTorch and makes the target LibTorch::LibTorch (and LibTorch::CUDA where
# HYPEROPT_CUDA asks for it). Ours, because find_package(Torch) of a wheel wants a CUDA
# toolkit even for programs that never touch a GPU.
#
# Looked for, in this order: HYPEROPT_LIBTORCH (cache or command line), each folder of
# CMAKE_PREFIX_PATH, build/libtorch, ~/.cache/hyperopt/libtorch, /opt/hyperopt/libtorch.
# A folder may be the target of `pip install --target` (DIR/torch/include), the torch
# folder of a wheel, or an unpacked LibTorch archive (DIR/include).
set(HYPEROPT_LIBTORCH "" CACHE PATH "Folder of LibTorch: a wheel's or an archive's")

set(_roots ${HYPEROPT_LIBTORCH})
if(NOT HYPEROPT_LIBTORCH)
  set(_roots ${CMAKE_PREFIX_PATH} $ENV{CMAKE_PREFIX_PATH} ${PROJECT_SOURCE_DIR}/build/libtorch
    $ENV{HOME}/.cache/hyperopt/libtorch /opt/hyperopt/libtorch)
  string(REPLACE ":" ";" _roots "${_roots}")
endif()
set(LibTorch_ROOT_DIR "")
foreach(_root IN LISTS _roots)
  foreach(_dir ${_root}/torch ${_root}/libtorch ${_root})
    if(NOT LibTorch_ROOT_DIR AND EXISTS ${_dir}/include/torch/csrc/api/include/torch/torch.h
       AND EXISTS ${_dir}/lib/libtorch_cpu.so)
      set(LibTorch_ROOT_DIR ${_dir})
    endif()
  endforeach()
endforeach()

set(_pip_target ${PROJECT_SOURCE_DIR}/build/libtorch)
set(_pip_command "python3 -m pip install --no-deps --target ${_pip_target} \
torch==2.13.0 \"nvidia-cuda-runtime==13.0.*\" \"nvidia-cuda-cupti==13.0.*\"")
set(_pip_command_cuda "python3 -m pip install --target ${_pip_target} torch==2.13.0")
if(HYPEROPT_CUDA)
  set(_pip_command "${_pip_command_cuda}")
endif()
if(NOT LibTorch_ROOT_DIR)
  list(JOIN _roots "\n  " _looked)
  message(FATAL_ERROR "LibTorch was not found. Bring it with\n  ${_pip_command}\n"
    "or name a copy with -DHYPEROPT_LIBTORCH=DIR, or build without the trainer: "
    "-DHYPEROPT_TRAINER=OFF. Looked in\n  ${_looked}")
endif()

# The wheel brings Gloo's symbols and not its headers.
find_path(LibTorch_GLOO_INCLUDE_DIR gloo/context.h HINTS ${LibTorch_ROOT_DIR}/include)
mark_as_advanced(LibTorch_GLOO_INCLUDE_DIR)
if(NOT LibTorch_GLOO_INCLUDE_DIR)
  message(FATAL_ERROR "The headers of Gloo were not found. Install them with\n"
    "  apt-get install -y libgloo-dev")
endif()

set(LibTorch_VERSION "")
if(EXISTS ${LibTorch_ROOT_DIR}/include/torch/headeronly/version.h)
  file(STRINGS ${LibTorch_ROOT_DIR}/include/torch/headeronly/version.h _version
    REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" _version "${_version}")
  list(JOIN _version "." LibTorch_VERSION)
endif()
message(STATUS "LibTorch ${LibTorch_VERSION}: ${LibTorch_ROOT_DIR}")

if(NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED GLOBAL)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
    ${LibTorch_ROOT_DIR}/include ${LibTorch_ROOT_DIR}/include/torch/csrc/api/include
    ${LibTorch_GLOO_INCLUDE_DIR})
  target_compile_definitions(LibTorch::LibTorch INTERFACE USE_C10D_GLOO)
  # The wheel's libtorch_cpu names libraries that its own RPATH finds at run time and
  # the linker does not.
  target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined
    -Wl,-rpath,${LibTorch_ROOT_DIR}/lib)
  target_link_libraries(LibTorch::LibTorch INTERFACE
    ${LibTorch_ROOT_DIR}/lib/libtorch_cpu.so ${LibTorch_ROOT_DIR}/lib/libc10.so)
endif()

# GPUs and NCCL: a CUDA toolkit for the headers, and the full set of wheels, whose NCCL
# (newer than most systems') libtorch_cuda needs.
if(HYPEROPT_CUDA AND NOT TARGET LibTorch::CUDA)
  if(NOT EXISTS ${LibTorch_ROOT_DIR}/lib/libtorch_cuda.so)
    message(FATAL_ERROR "${LibTorch_ROOT_DIR} has no libtorch_cuda.so, which "
      "HYPEROPT_CUDA needs. Bring a LibTorch with CUDA:\n  ${_pip_command_cuda}")
  endif()
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND)
    message(FATAL_ERROR "HYPEROPT_CUDA needs a CUDA toolkit (13.0 for LibTorch 2.13): "
      "put nvcc on PATH or name it with -DCUDAToolkit_ROOT=DIR")
  endif()
  get_filename_component(_wheels ${LibTorch_ROOT_DIR} DIRECTORY)
  find_path(LibTorch_NCCL_INCLUDE_DIR nccl.h
    HINTS ${_wheels}/nvidia/nccl/include ${_wheels}/nvidia/cu13/include)
  mark_as_advanced(LibTorch_NCCL_INCLUDE_DIR)
  if(NOT LibTorch_NCCL_INCLUDE_DIR)
    message(FATAL_ERROR "nccl.h was not found beside ${LibTorch_ROOT_DIR}. Bring it:\n"
      "  ${_pip_command_cuda}")
  endif()
  add_library(LibTorch::CUDA INTERFACE IMPORTED GLOBAL)
  target_include_directories(LibTorch::CUDA SYSTEM INTERFACE
    ${LibTorch_NCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_definitions(LibTorch::CUDA INTERFACE USE_C10D_NCCL)
  # Nothing of libtorch_cuda is called by name but NCCL: it must stay linked, since it
  # registers the GPU with libtorch_cpu when it is loaded.
  target_link_libraries(LibTorch::CUDA INTERFACE LibTorch::LibTorch
    -Wl,--push-state,--no-as-needed ${LibTorch_ROOT_DIR}/lib/libtorch_cuda.so
    -Wl,--pop-state ${LibTorch_ROOT_DIR}/lib/libc10_cuda.so)
endif()
set(LibTorch_FOUND TRUE)
