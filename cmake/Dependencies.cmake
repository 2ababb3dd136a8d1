# Every library is found here or the configure step stops with the command that brings it.
#   hyperopt_require(package "debian packages" [ARGS arguments of find_package...])
# Nothing is optional and nothing is swapped for another: a build that ends is whole.
function(hyperopt_require package debian)
  cmake_parse_arguments(arg "" "" "ARGS" ${ARGN})
  find_package(${package} QUIET ${arg_ARGS})
  if(NOT ${package}_FOUND)
    # A message that starts with a space is not wrapped, so the command can be pasted.
    message(FATAL_ERROR " ${package} was not found. Install it with:\n"
      "   apt-get install -y ${debian}\n"
      " or run ./setup.sh, which brings all that is needed.")
  endif()
endfunction()

set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
hyperopt_require(Threads build-essential)
# cppzmq's own config finds libzmq through pkg-config.
hyperopt_require(PkgConfig pkg-config)
hyperopt_require(fmt libfmt-dev)
hyperopt_require(nlohmann_json nlohmann-json3-dev)
hyperopt_require(SQLite3 libsqlite3-dev)
hyperopt_require(ZLIB zlib1g-dev)
hyperopt_require(yaml-cpp libyaml-cpp-dev)
hyperopt_require(cppzmq "cppzmq-dev libzmq3-dev")
hyperopt_require(Eigen3 libeigen3-dev ARGS NO_MODULE)
hyperopt_require(NLopt libnlopt-dev ARGS NO_MODULE)
# Here once more, since what it sets for pkg_check_modules ends with a function.
find_package(PkgConfig QUIET)
pkg_check_modules(HTTPLIB QUIET IMPORTED_TARGET GLOBAL cpp-httplib)
if(NOT HTTPLIB_FOUND)
  message(FATAL_ERROR " cpp-httplib was not found. Install it with:\n"
    "   apt-get install -y libcpp-httplib-dev\n"
    " or run ./setup.sh, which brings all that is needed.")
endif()
hyperopt_require(CLI11 libcli11-dev)
hyperopt_require(spdlog libspdlog-dev)
if(HYPEROPT_TESTS)
  hyperopt_require(doctest doctest-dev)
  hyperopt_require(rapidcheck librapidcheck-dev)
  # The checks, and the trials of some examples. Debian's own, since a python3 found first
  # on PATH may be a shim that takes longer to start than a trial runs.
  find_program(HYPEROPT_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(HYPEROPT_PYTHON NAMES python3)
  if(NOT HYPEROPT_PYTHON)
    message(FATAL_ERROR " python3 was not found. Install it with:\n"
      "   apt-get install -y python3\n"
      " or run ./setup.sh, which brings all that is needed.")
  endif()
endif()
