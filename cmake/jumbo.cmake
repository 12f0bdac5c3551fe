# Compiles several source files of a target as one, where names allow it (jumbo_groups.py): what they include is read once
# for all of them, and what they instantiate is compiled once.
#
#   ringside_jumbo_target(TARGET)   the target takes part
#   ringside_jumbo()                behind all targets: chooses the groups

option(RINGSIDE_JUMBO "Compile source files of a library together, as far as names allow it" OFF)
set(RINGSIDE_JUMBO_MOST 24 CACHE STRING "The most source files that are compiled as one")
mark_as_advanced(RINGSIDE_JUMBO_MOST)

function(ringside_jumbo_target target)
  if(RINGSIDE_JUMBO)
    set_property(GLOBAL APPEND PROPERTY ringside_jumbo_targets ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endif()
endfunction()

function(ringside_jumbo)
  get_property(targets GLOBAL PROPERTY ringside_jumbo_targets)
  if(NOT targets)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(lines)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    set(files_${target})
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
      list(APPEND files_${target} ${source})
    endforeach()
    list(JOIN files_${target} "\t" files)
    string(APPEND lines "${target}\t${RINGSIDE_JUMBO_MOST}\t${files}\n")
  endforeach()
  set(asked ${PROJECT_BINARY_DIR}/jumbo_targets.txt)
  file(CONFIGURE OUTPUT ${asked} CONTENT "${lines}" @ONLY)
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/jumbo_groups.py ${PROJECT_SOURCE_DIR}/src
                  INPUT_FILE ${asked} OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" groups "${groups}")
  foreach(line IN LISTS groups)
    string(REPLACE "\t" ";" line "${line}")
    list(GET line 0 target)
    list(GET line 1 number)
    list(GET line 2 file)
    list(APPEND ordered_${target} ${file})
    set_property(SOURCE ${file} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${target}_${number})
    # Another name in it may change the groups.
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  # CMake compiles the files of a group in the order that the target has them in.
  foreach(target IN LISTS targets)
    list(APPEND ordered_${target} ${files_${target}})
    list(REMOVE_DUPLICATES ordered_${target})
    set_property(TARGET ${target} PROPERTY SOURCES ${ordered_${target}})
  endforeach()
endfunction()
