# How long a test may run is decided here, and nowhere else.
#
#   ringside_limit(unit cli.annotate cli.attach)     KIND TEST …
#
# A limit ends a hang and decides nothing else. It is more than ten times what a test of its kind
# takes on an idle machine with two processors. The test has the factor in RINGSIDE_TIME_SCALE.
# RINGSIDE_TEST_SECONDS is the time after which it ends itself and says where it was. The modules
# harness/limits.py and src/base/testing/time_limits.h read them.
set(RINGSIDE_TIME_SCALE 1 CACHE STRING "How many times as long as on an idle machine tests may take: script/time-scale")

set(ringside_time_scale ${RINGSIDE_TIME_SCALE})
if(RINGSIDE_SANITIZE)
  # Sanitizers, and compiling without optimisation as their presets do, make tests several times
  # as slow.
  math(EXPR ringside_time_scale "4 * ${RINGSIDE_TIME_SCALE}")
endif()

# Seconds on an idle machine. `long` is for what CI leaves out (label exhaustive); the longest of
# them records for ten minutes.
set(ringside_unit_seconds 600)
set(ringside_guest_seconds 1200)
set(ringside_long_seconds 7200)
foreach(kind unit guest long)
  math(EXPR ringside_${kind}_seconds "${ringside_${kind}_seconds} * ${ringside_time_scale}")
  math(EXPR ringside_${kind}_own_seconds "${ringside_${kind}_seconds} * 9 / 10")
endforeach()

# For the list of a program's tests, which is made as it is linked. The scale is not in it: another
# one would link all of them anew.
set(ringside_listing_seconds 600)

function(ringside_limit kind)
  set_property(TEST ${ARGN} PROPERTY TIMEOUT ${ringside_${kind}_seconds})
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT_MODIFICATION
    RINGSIDE_TIME_SCALE=set:${ringside_time_scale}
    RINGSIDE_TEST_SECONDS=set:${ringside_${kind}_own_seconds})
endfunction()

# The same as properties, for tests that ctest knows only when it reads the list of a program's.
function(ringside_limit_properties kind out)
  set(${out} "TIMEOUT ${ringside_${kind}_seconds} ENVIRONMENT_MODIFICATION RINGSIDE_TIME_SCALE=set:${ringside_time_scale}"
      PARENT_SCOPE)
endfunction()
