"""The licences that tools/wheel_licences puts into a wheel, tried with a wheel of one bundled library."""

import base64
import hashlib
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

nanobind = pytest.importorskip("nanobind", reason="nanobind is not installed")
TOOL = pathlib.Path(__file__).parents[2] / "tools" / "wheel_licences"
INFO = "espalier-0.1.0.dist-info/"


def wheel_with(path, library):
    names = [f"espalier.libs/{library}", "espalier.libs/libOpenCL-0a1b2c3d.so.1", INFO + "RECORD"]
    with zipfile.ZipFile(path, "w") as wheel:
        for name in names:
            wheel.writestr(name, "".join(f"{each},,\n" for each in names) if name.endswith("RECORD") else b"")
    return path


def run(wheel):
    folder = pathlib.Path(nanobind.__file__).parent
    return subprocess.run([sys.executable, TOOL, wheel, folder, "libOpenCL"], capture_output=True, text=True)


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="there is no dpkg-query")
def test_a_wheel_has_the_licences_of_what_it_bundles(tmp_path):
    wheel = wheel_with(tmp_path / "espalier.whl", "libgomp-0a1b2c3d.so.1.0.0")
    for _ in range(2):  # a second time changes nothing
        done = run(wheel)
        assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(wheel) as made:
        names = made.namelist()
        record = made.read(INFO + "RECORD").decode().splitlines()
        gomp = made.read(INFO + "licenses/bundled/libgomp1.txt")
        robin_map = made.read(INFO + "licenses/bundled/robin_map.txt").decode()
    assert len(names) == len(set(names)) == len(record)
    assert INFO + "licenses/bundled/common/GPL-3.txt" in names and b"GCC RUNTIME LIBRARY EXCEPTION" in gomp.upper()
    assert robin_map.startswith("/**") and "Permission is hereby granted" in robin_map
    digest = base64.urlsafe_b64encode(hashlib.sha256(gomp).digest()).rstrip(b"=").decode()
    assert f"{INFO}licenses/bundled/libgomp1.txt,sha256={digest},{len(gomp)}" in record


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="there is no dpkg-query")
def test_a_library_of_no_package_is_refused(tmp_path):
    done = run(wheel_with(tmp_path / "espalier.whl", "libunheard-0a1b2c3d.so.1"))
    assert done.returncode == 1 and "no package has libunheard.so.1" in done.stderr
