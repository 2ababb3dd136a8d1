# A library or a test program of this project.
#   hyperopt_library(NAME SOURCES... LINK libraries... [PRIVATE_LINK libraries...])
#   hyperopt_test(NAME SOURCES... LINK libraries... [TIMEOUT seconds] [LABELS labels...])
# A test program is registered with CTest under its name; doctest's main is linked in.
# Label a program that opens ZeroMQ sockets `zeromq`: the thread sanitizer, which cannot
# see into that library, leaves it out.
function(hyperopt_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC hyperopt_settings ${arg_LINK}
    PRIVATE ${arg_PRIVATE_LINK})
endfunction()

function(hyperopt_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT HYPEROPT_TESTS)
    return()
  endif()
  if(NOT TARGET hyperopt_doctest_main)
    add_library(hyperopt_doctest_main OBJECT
      ${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cc)
    target_link_libraries(hyperopt_doctest_main PRIVATE hyperopt_settings doctest::doctest)
  endif()
  add_executable(${name} ${arg_SOURCES} $<TARGET_OBJECTS:hyperopt_doctest_main>)
  target_link_libraries(${name} PRIVATE hyperopt_settings doctest::doctest ${arg_LINK})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(HYPEROPT_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 3")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
