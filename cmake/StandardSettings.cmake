# Flags that every target of this project gets, and nothing else does.
add_library(hyperopt_settings INTERFACE)
target_compile_features(hyperopt_settings INTERFACE cxx_std_20)
target_include_directories(hyperopt_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(hyperopt_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  -Wnon-virtual-dtor -Wcast-align -Wno-missing-field-initializers)
# Containers check their bounds in every build type: a search that runs for days must not
# go on from a broken invariant. NDEBUG is not set for the same reason.
target_compile_definitions(hyperopt_settings INTERFACE _GLIBCXX_ASSERTIONS
  HYPEROPT_VERSION="${PROJECT_VERSION}")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_MINSIZEREL "-Os")

if(HYPEROPT_WERROR)
  target_compile_options(hyperopt_settings INTERFACE -Werror)
endif()
if(HYPEROPT_SANITIZE)
  target_compile_options(hyperopt_settings INTERFACE
    -fsanitize=${HYPEROPT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Under a sanitizer g++ 12 finds it in the std::regex of its own library (GCC bug 105562).
  target_compile_options(hyperopt_settings INTERFACE -Wno-maybe-uninitialized)
  target_link_options(hyperopt_settings INTERFACE -fsanitize=${HYPEROPT_SANITIZE})
endif()

find_program(HYPEROPT_CCACHE ccache)
if(HYPEROPT_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HYPEROPT_CCACHE})
endif()
