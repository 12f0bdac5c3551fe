# Where programs and plugins are installed: stripped, their debug information in a file of its own.
#
# The components of an installation:
#   local     the programs, as `cmake --install` installs them
#   deb       the programs, which CPack strips, and what else is in the .deb alone
#   ringside  the rest, which is the same for both
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME ringside)

# The .deb is installed below /usr, whatever this build's prefix is. Debian has a folder for each
# architecture there.
set(RINGSIDE_PLUGIN_FOLDER ${CMAKE_INSTALL_LIBDIR}/ringside)
set(RINGSIDE_DEB_PLUGIN_FOLDER lib/${CMAKE_LIBRARY_ARCHITECTURE}/ringside)
file(RELATIVE_PATH RINGSIDE_PLUGIN_FROM_BIN
     ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/ringside)

function(ringside_install target folder deb_folder)
  target_link_options(${target} PRIVATE -Wl,--build-id=sha1) # lld's own kind is shorter
  install(TARGETS ${target} RUNTIME DESTINATION ${deb_folder} COMPONENT deb EXCLUDE_FROM_ALL
                            LIBRARY DESTINATION ${deb_folder} COMPONENT deb EXCLUDE_FROM_ALL)
  install(TARGETS ${target} RUNTIME DESTINATION ${folder} COMPONENT local
                            LIBRARY DESTINATION ${folder} COMPONENT local)
  install(CODE "
    set(RINGSIDE_OBJCOPY \"${CMAKE_OBJCOPY}\")
    set(RINGSIDE_READELF \"${CMAKE_READELF}\")
    set(RINGSIDE_BUILT \"$<TARGET_FILE:${target}>\")
    set(RINGSIDE_INSTALLED \"${folder}/$<TARGET_FILE_NAME:${target}>\")" COMPONENT local)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/split_debug.cmake COMPONENT local)
endfunction()
