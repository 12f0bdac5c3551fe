# script/test leaves out the tests with the label `more`, which take long. script/prove guests and script/prove units run
# them; run both before a change lands.

# The tests with a guest that CI runs, one of each feature. All others have the label `more` or `exhaustive`.
set(RINGSIDE_CI_TESTS
  # Shares and stacks of the bundled kernel.
  guest.truth.user.nofp.1 guest.truth.interrupts.nofp.2
  guest.annotate.aarch64 guest.kernel_copies guest.deterministic
  # Ways in, and that the guest runs on.
  guest.launch.ctrl-c guest.launch.duration guest.launch.make-wrapper guest.launch.own-stub guest.launch.qemu-crashes
  guest.launch.qmp-engine guest.launch.sigterm guest.launch.tcg-engine guest.interrupted guest.kill
  guest.paused guest.paused_monitor guest.rounds guest.qemu7.2.paused
  # Rings, Redox' and Maestro's formats.
  guest.rings.redox.b.live guest.rings.memory guest.maestro.chains
  # Debian's kernel.
  guest.linux.processes.amd64)

# The unit tests that take longest: half of the time of all. So are the suites whose names end with Long. Suites that are
# split in two end with .1 and .2.
set(RINGSIDE_LONG_UNIT_NAMES
  cli.annotate cli.disk_image cli.disk_refusals cli.doctor cli.go_programs cli.json_bombs cli.memory cli.replaced_outputs engines.HostWaits engines.SlicedReads
  guest.self.run_truth guestos.Compressions.PackedInitramfs.2 importers.CallgrindTest importers.Firefox
  importers.Formats.RingProperty.1 importers.Formats.RingProperty.2 importers.RealPerfTest importers.Seeds.CallgrindSumsTest.1 kernel_image.BootImage
  kernel_image.Slide package.contents recording.Damage recording.Generated session.KernelSearchTest symbols.C.Program.1 symbols.C.Program.2 symbols.DebianKernels
  unwind.Programs.SingleStep.1 unwind.Programs.SingleStep.2 unwind_cases.Kernels.WrongReturnAddresses.2)

# Suites that are a test each, which begins first; cmake/discover_suites.cmake groups others. Most take more than two
# seconds with sanitizers.
# The patterns in script/unit_tests.sh choose unwind_cases one by one.
set(RINGSIDE_LONE_UNITS
  app.LoopbackServerTest engines.GdbEngine engines.GuestHolds engines.Monitors engines.QemuRamTest
  engines.RedoxRingsTest engines.RingSearchTest engines.StubsOfMigratedGuests exporters.Flamegraph exporters.JsonLines
  guestos.AArch64Entries guestos.RootProcessesTest importers.FoldedRecording importers.GdbText
  importers.JsonLinesImport importers.PerfDataRecords importers.PerfDataTest importers.PerfDataTimeOrder
  importers.PerfScript importers.PprofTest importers.Speedscope recording.BlocksAhead recording.Bounds
  recording.RoundTrip recording.Writer session.ReadsInStops session.RecorderTest session.SamplerTest session.ScanTest
  symbols.DamagedTypes symbols.Kallsyms symbols.KernelCacheTest symbols.ListedImage symbols.MadeUpKernel
  unwind.StackEndTest unwind_cases.UnwindCasesText unwind_cases.UnwindCasesTotals views.CallTree views.RecentFrees
  views.SeriesTest)

# Labels tests with a guest that CI leaves out.
function(ringside_label_more)
  set_property(GLOBAL APPEND PROPERTY ringside_guest_tests ${ARGN})
  foreach(test IN LISTS ARGN)
    get_property(labels TEST ${test} PROPERTY LABELS)
    if(NOT test IN_LIST RINGSIDE_CI_TESTS AND NOT exhaustive IN_LIST labels)
      set_property(TEST ${test} APPEND PROPERTY LABELS more)
    endif()
  endforeach()
endfunction()

# The same for unit tests that are no suites of GoogleTest's.
function(ringside_label_long test)
  if(test IN_LIST RINGSIDE_LONG_UNIT_NAMES)
    set_property(TEST ${test} APPEND PROPERTY LABELS more)
  endif()
endfunction()

# Behind all tests: each name of RINGSIDE_CI_TESTS is one's.
function(ringside_check_ci_tests)
  get_property(tests GLOBAL PROPERTY ringside_guest_tests)
  set(missing ${RINGSIDE_CI_TESTS})
  list(REMOVE_ITEM missing ${tests})
  if(missing)
    message(FATAL_ERROR "cmake/ci_tests.cmake names no tests: ${missing}")
  endif()
endfunction()
