# The .deb, and what is installed beside the programs (cmake/install.cmake).

install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT local)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Where docs/recording-format.md links to it.
install(FILES src/recording/recording.proto DESTINATION ${CMAKE_INSTALL_DOCDIR}/src/recording)
# For kernels that sample themselves.
install(DIRECTORY guest DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN CMakeLists.txt EXCLUDE)
install(FILES src/wire/GUEST_RING.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/src/wire)

# The files that these link to.
file(GLOB linked RELATIVE ${PROJECT_SOURCE_DIR} demo/README.md examples/README.md bench/*/README.md
     tests/unwind-cases/README.md demo/kernel/sampling/* demo/kernel/arch/interrupt_entry.S
     tests/guest/kernels/ring/*)
foreach(file ${linked})
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# The program itself writes its completions.
set(completions ${PROJECT_BINARY_DIR}/completions)
add_custom_command(
  OUTPUT ${completions}/ringside.bash ${completions}/_ringside ${completions}/ringside.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
  COMMAND ringside --completion bash > ${completions}/ringside.bash
  COMMAND ringside --completion zsh > ${completions}/_ringside
  COMMAND ringside --completion fish > ${completions}/ringside.fish
  DEPENDS ringside VERBATIM)
install(FILES ${completions}/ringside.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME ringside)
install(FILES ${completions}/_ringside DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
        COMPONENT local)
install(FILES ${completions}/_ringside DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
        COMPONENT deb EXCLUDE_FROM_ALL)
install(FILES ${completions}/ringside.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# And its manual pages. -n: without the time.
set(man_pages ${PROJECT_BINARY_DIR}/man)
add_custom_command(
  OUTPUT ${man_pages}/ringside.1.gz
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${man_pages}
  COMMAND ringside --man-pages ${man_pages}
  COMMAND find ${man_pages} -type f -exec gzip -9n {} +
  DEPENDS ringside VERBATIM)
install(DIRECTORY ${man_pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Names what is compiled in, too. In the .deb it stands for LICENSE, which Debian has already.
install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

# `cpack` makes ringside_VERSION_ARCH.deb, and ringside-dbgsym_VERSION_ARCH.ddeb for debuggers.
set(RINGSIDE_MAINTAINER "The ringside developers <ringside@ringside.invalid>"
    CACHE STRING "Maintainer of the .deb")
# Debian's changelog of the package.
configure_file(cmake/changelog.in ${PROJECT_BINARY_DIR}/changelog @ONLY)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/changelog.gz
  COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/changelog
  DEPENDS ${PROJECT_BINARY_DIR}/changelog VERBATIM)
add_custom_target(ringside_texts ALL
  DEPENDS ${completions}/ringside.bash ${man_pages}/ringside.1.gz ${PROJECT_BINARY_DIR}/changelog.gz)
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT deb EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringside)
set(CPACK_PACKAGE_CONTACT ${RINGSIDE_MAINTAINER})
set(CPACK_INSTALL_CMAKE_PROJECTS
    ${PROJECT_BINARY_DIR} ringside ringside /
    ${PROJECT_BINARY_DIR} ringside deb /)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# Capstone is opened while ringside runs; libraries that are linked are named by dpkg-shlibdeps.
string(REGEX MATCH "^[0-9]+" capstone_release ${CAPSTONE_VERSION})
set(CPACK_DEBIAN_PACKAGE_DEPENDS libcapstone${capstone_release})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "qemu-system-x86 | qemu-system, libllvm19 | libllvm14")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "qemu-system-arm, qemu-system-riscv | qemu-system-misc, libdebuginfod1t64 | libdebuginfod1, qemu-utils, e2fsprogs, mtools")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler for operating-system kernels in virtual machines")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"ringside watches a virtual machine from outside: it needs no agent in the
guest, no change to its kernel and no patched QEMU. It samples all virtual
CPUs, finds the call stacks of kernel and user code, and writes reports and
flame graphs.

Where QEMU is 9.2 or newer and emulates the processor, a plugin takes the
samples and the guest is never stopped. Elsewhere they come through QEMU's gdb
stub or its monitor.")
include(CPack)
