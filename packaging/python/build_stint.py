# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel and the source distribution of this folder: a back end as PEP 517 describes it.

It needs Python's standard library only, so that `pip install` asks no index, and writes nothing but
the file it is asked for. The version and the licence are those of the tree around this folder; in
an unpacked source distribution they are beside this file.
"""

import base64
import hashlib
import io
import pathlib
import re
import sys
import tarfile
import zipfile

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCES = ("README.md", "build_stint.py", "pyproject.toml")
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a zip file; equal sources give equal files

METADATA = """Metadata-Version: 2.1
Name: stint
Version: {version}
Summary: Timers for Python and C in one call tree
License: Apache-2.0
License-File: LICENSE
Keywords: profiling,timing,performance,instrumentation
Platform: Linux
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Developers
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Debuggers
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """Wheel-Version: 1.0
Generator: build_stint
Root-Is-Purelib: true
Tag: py3-none-any
"""


def read_version():
    packed = HERE / "PKG-INFO"
    if packed.exists():
        return re.search(r"(?m)^Version: (.*)$", packed.read_text("utf-8")).group(1)
    header = (ROOT / "include" / "stint" / "stint.h").read_text("utf-8")
    return ".".join(re.findall(r"(?m)^#define STINT_VERSION_[A-Z]+ (\d+)$", header))


def metadata():
    readme = (HERE / "README.md").read_text("utf-8")
    return METADATA.format(version=read_version(), readme=readme).encode()


def licence():
    packed = HERE / "LICENSE"
    return (packed if packed.exists() else ROOT / "LICENSE").read_bytes()


def modules():
    """Name and contents of each file of the package."""
    return {path.relative_to(HERE).as_posix(): path.read_bytes()
            for path in sorted((HERE / "stint").glob("*.py"))}


def write_wheel(folder, files):
    name = "stint-%s" % read_version()
    info = name + ".dist-info/"
    files = {**files, info + "METADATA": metadata(), info + "WHEEL": WHEEL.encode(),
             info + "LICENSE": licence()}
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (path, digest, len(data))
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    wheel = name + "-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    return wheel


# ---- What PEP 517 and PEP 660 name. ----

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory
    return write_wheel(wheel_directory, modules())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory
    return write_wheel(wheel_directory, {"stint.pth": (str(HERE) + "\n").encode()})


def build_sdist(sdist_directory, config_settings=None):
    del config_settings
    name = "stint-%s" % read_version()
    files = {**modules(), "PKG-INFO": metadata(), "LICENSE": licence()}
    files.update({path: (HERE / path).read_bytes() for path in SOURCES})
    with tarfile.open(pathlib.Path(sdist_directory) / (name + ".tar.gz"), "w:gz",
                      format=tarfile.PAX_FORMAT) as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo("%s/%s" % (name, path))
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return name + ".tar.gz"
