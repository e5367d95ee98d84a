"""Files that are there whole or not at all, and what to do about one that is not whole."""

import errno
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY = re.compile(
    r"\..+\.(\d+)\.tmp(\.\w+)?"
)  # what `written` calls a file on its way, with its process
NO_ROOM = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    None,
)  # None: numpy's, when fewer bytes arrive than were sent


class Damaged(Exception):
    """Files that were whole once and are not any more; the message names them and the command that heals."""

    def __init__(self, found: dict[str, str]):
        words = "; ".join(f"{path} is damaged ({why})" for path, why in found.items())
        super().__init__(f"{words}. Remove and run the same command again: rm {' '.join(found)}")


@contextmanager
def written(path: str | Path) -> Iterator[Path]:
    """A temporary name to write to, beside `path`, which is renamed to it at the end: a killed or failing job leaves
    what was there before."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        reason = f"{path} cannot be written ({error.strerror or 'disk full'}); make room and run the same command again"
        raise OSError(error.errno or errno.ENOSPC, reason) from None
    finally:
        temporary.unlink(missing_ok=True)


def sweep(*folders: str | Path) -> list[Path]:
    """Remove what killed writers left behind; a writer that is still alive keeps its file."""
    found = []
    for folder in folders:
        for path in Path(folder).rglob(".*.tmp*"):
            if (match := TEMPORARY.fullmatch(path.name)) and not alive(int(match[1])):
                path.unlink(missing_ok=True)
                found.append(path)
    return found


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True


@contextmanager
def reading(path: str | Path) -> Iterator[Path]:
    """Whatever a reader says of a file that is cut short or overwritten, in one sentence with the remedy."""
    try:
        yield Path(path)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
    ) as error:  # Arrow's and JSON's are ValueErrors
        raise Damaged({str(path): str(error).rstrip(".")}) from None


def check_whole(paths: Iterable[str | Path]) -> None:
    """Refuse files that are not whole, as far as their ends tell: quick enough for all the files of a run."""
    if found := {str(path): why for path in paths if (why := damage(Path(path)))}:
        raise Damaged(found)


def damage(path: Path) -> str:
    """What is wrong with a file; '' if nothing seems to be, or if it is not there."""
    if not path.is_file():
        return ""
    if path.stat().st_size == 0:
        return "empty"
    try:
        if path.suffix == ".npz":
            zipfile.ZipFile(path).close()
        elif path.suffix in (".json", ".ipynb"):
            json.loads(path.read_text())
        elif path.suffix == ".parquet":
            with path.open("rb") as file:
                first = file.read(4)
                file.seek(-4, os.SEEK_END)
                return "" if first == file.read() == b"PAR1" else "cut short"
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        return str(error).rstrip(".")
    return ""
