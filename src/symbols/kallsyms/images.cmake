# Made-up kernels with kallsyms of every layout, and their symbols as nm prints them:
# RINGSIDE_KALLSYMS_FOLDER/LAYOUT.img and LAYOUT.txt.
set(RINGSIDE_KALLSYMS_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/kallsyms_images)
set(encoder ${CMAKE_CURRENT_SOURCE_DIR}/kallsyms/testdata/encode_kallsyms.py)
file(MAKE_DIRECTORY ${RINGSIDE_KALLSYMS_FOLDER})
set(images)
foreach(layout 4.4-64-absolute 4.4-64-absolute-align256 4.4-32-absolute 4.6-64-percpu
               4.6-64-align256 4.6-32 4.20-64-percpu 4.20-64-absolute 4.20-32 6.1-64-percpu
               6.1-64-unrelocated 6.2-64-percpu 6.2-64 6.2-32 6.4-64-percpu 6.4-64-unrelocated
               6.4-64-absolute 6.4-32 7.0-64 7.0-32 7.0-32-value)
  set(image ${RINGSIDE_KALLSYMS_FOLDER}/${layout})
  add_custom_command(OUTPUT ${image}.img ${image}.txt
    COMMAND python3 ${encoder} ${layout} ${image}.img ${image}.txt
    DEPENDS ${encoder} VERBATIM)
  list(APPEND images ${image}.img)
endforeach()
add_custom_target(kallsyms_images DEPENDS ${images})
