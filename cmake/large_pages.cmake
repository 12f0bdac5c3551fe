# Compilers take a tenth to a quarter less time where their memory is of large pages (docs/building.md).
#
#   ringside_large_pages(SETTINGS)   sets it to the environment that makes a compiler ask for them, "NAME=VALUE" each

function(ringside_large_pages settings)
  set(${settings} "" PARENT_SCOPE)
  set(offer /sys/kernel/mm/transparent_hugepage/enabled)
  if(NOT EXISTS ${offer})
    return()
  endif()
  file(READ ${offer} offered)
  if(NOT offered MATCHES "\\[(madvise|always)\\]")
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # The C library asks for them, if the heap grows by pieces that are large enough.
    set(${settings} GLIBC_TUNABLES=glibc.malloc.hugetlb=1 MALLOC_TOP_PAD_=67108864 MALLOC_MMAP_THRESHOLD_=1073741824 PARENT_SCOPE)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT CMAKE_CROSSCOMPILING AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    # g++ has a heap of its own. The loader takes no path with a blank or a colon.
    set(library ${PROJECT_BINARY_DIR}/large_pages.so)
    if(library MATCHES "[ :]")
      return()
    endif()
    execute_process(COMMAND ${CMAKE_C_COMPILER} -O1 -shared -fPIC -o ${library} ${PROJECT_SOURCE_DIR}/cmake/large_pages.c
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(${settings} LD_PRELOAD=${library} PARENT_SCOPE)
    endif()
  endif()
endfunction()
