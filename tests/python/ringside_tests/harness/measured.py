"""The end of a measurement of bench/: in a folder of its own, with its result as JSON."""
import json
import pathlib
import subprocess
import tempfile


def exit_status(run, options, name, error):
    """Writes the result of run(options, folder) to options.out, if that is a path. options.keep is the folder, or None.
    name: a part of a temporary folder's name; error: a kind of failure that is one line, beside those of files and processes."""
    with tempfile.TemporaryDirectory(prefix=f"ringside-{name}-") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            result = run(options, folder)
        except (error, OSError, subprocess.CalledProcessError) as failure:
            print(f"FAILED: {failure}")
            return 1
        if options.out:
            options.out.write_text(json.dumps(result, indent=1))
    return 0
