# A step of `cmake --install`: strips RINGSIDE_INSTALLED (below the prefix), the copy of
# RINGSIDE_BUILT, and puts its debug information into lib/debug/.build-id, as debuggers expect it.
cmake_policy(VERSION 3.25)
cmake_path(ABSOLUTE_PATH RINGSIDE_INSTALLED BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
set(installed $ENV{DESTDIR}${RINGSIDE_INSTALLED})

execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${RINGSIDE_READELF} -n ${RINGSIDE_BUILT}
                OUTPUT_VARIABLE notes COMMAND_ERROR_IS_FATAL ANY)
if(NOT notes MATCHES "Build ID: ([0-9a-f][0-9a-f])([0-9a-f]+)")
  message(FATAL_ERROR "${RINGSIDE_BUILT} has no build id: link it with --build-id")
endif()
set(debug ${CMAKE_INSTALL_PREFIX}/lib/debug/.build-id/${CMAKE_MATCH_1}/${CMAKE_MATCH_2}.debug)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${debug})
set(debug $ENV{DESTDIR}${debug})

message(STATUS "Installing: ${debug}")
cmake_path(GET debug PARENT_PATH folder)
file(MAKE_DIRECTORY ${folder})
execute_process(COMMAND ${RINGSIDE_OBJCOPY} --only-keep-debug ${RINGSIDE_BUILT} ${debug}
                COMMAND_ERROR_IS_FATAL ANY)
file(CHMOD ${debug} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
# A copy that was not older than a second may be the one of the last time, with its link.
foreach(step "--strip-unneeded;--remove-section=.gnu_debuglink" --add-gnu-debuglink=${debug})
  execute_process(COMMAND ${RINGSIDE_OBJCOPY} ${step} ${installed} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
