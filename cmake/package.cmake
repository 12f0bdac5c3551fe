# What `cmake --install` and `cpack` put where; the .deb depends on what the program links to.

install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The program itself writes its completions.
set(completions ${PROJECT_BINARY_DIR}/completions)
add_custom_command(
  OUTPUT ${completions}/ringside.bash ${completions}/_ringside ${completions}/ringside.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
  COMMAND ringside --completion bash > ${completions}/ringside.bash
  COMMAND ringside --completion zsh > ${completions}/_ringside
  COMMAND ringside --completion fish > ${completions}/ringside.fish
  DEPENDS ringside VERBATIM)
add_custom_target(ringside_completions ALL DEPENDS ${completions}/ringside.bash)
install(FILES ${completions}/ringside.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME ringside)
install(FILES ${completions}/_ringside DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${completions}/ringside.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringside)
set(CPACK_PACKAGE_CONTACT "The ringside developers <ringside@localhost>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
include(CPack)
