"""Haxby et al. 2001: brain scans while a person looks at faces or houses; a session of scans is a client.

y is 1 for a face, 0 for a house. Each session is standardised by itself, voxel by voxel, over all its scans.
Subject 6 is held out, as in the paper (59 sessions train, 12 validate).
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np

from fedrepro.datasets import DataError, Decoded
from fedrepro.datasets.transport.archives import tar_members

GRID = (40, 64, 64)
VOXELS, SUBJECTS, SESSIONS, SCANS = 39_912, 6, 71, 18  # run 8 of subject 5 has no labels: 6 * 12 - 1
VOXEL_MM = (3.5, 3.75, 3.75)
HEAD_MM = (0.0, -18.0, 8.0)  # about the middle of the brain in MNI coordinates


def parse(files: dict, limits: dict) -> Decoded:
    """The brain mask, then one archive per subject, in order."""
    import nibabel

    (mask_name, mask_path), *archives = files.items()
    mask = load_image(mask_path, mask_name)
    inside = np.asarray(mask.dataobj) != 0
    if inside.shape != GRID:
        raise DataError(f"{mask_name}: grid {inside.shape}, expected {GRID}")
    mask = nibabel.Nifti1Image(inside.astype(np.int8), mask.affine)
    X, y, groups, subjects = [], [], [], []
    for subject, (name, path) in enumerate(archives, start=1):
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".haxby-") as folder:
            for x, is_face in sessions_of(path, name, limits[name], mask, Path(folder)):
                groups.append(np.full(len(x), len(X), np.int32))
                subjects.append(np.full(len(x), subject, np.int8))
                X.append(x)
                y.append(is_face)
    subject = np.concatenate(subjects)
    extra = {"subject": subject, **geometry(np.flatnonzero(inside), GRID, mask.affine)}
    split = (subject == len(archives)).astype(np.uint8)
    return Decoded(np.concatenate(X), np.concatenate(y), np.concatenate(groups), split, extra)


def sessions_of(path: Path, name: str, limit_mb: float, mask, folder: Path):
    """(face and house scans within the mask, 1 for a face) of each session of one subject.

    nilearn masks one session at a time: the whole recording as floats would take gigabytes.
    """
    import nibabel
    from nilearn.maskers import NiftiMasker

    wanted = {"bold.nii.gz": folder / "bold.nii.gz", "labels.txt": folder / "labels.txt"}
    for member, stream in tar_members(path, limit_mb):
        if (target := wanted.get(member.rsplit("/", 1)[-1])) is not None:
            with target.open("wb") as out:
                shutil.copyfileobj(stream, out)
    missing = [key for key, target in wanted.items() if not target.exists()]
    if missing:
        raise DataError(f"{name}: holds no {' and no '.join(missing)}")
    label, run = read_labels(wanted["labels.txt"], name)
    bold = load_image(wanted["bold.nii.gz"], name)
    if bold.shape != (*GRID, len(label)):
        raise DataError(f"{name}: scans {bold.shape}, expected {(*GRID, len(label))}")
    scans = np.asanyarray(bold.dataobj)
    for session in np.unique(run):
        here = run == session
        keep = np.isin(label[here], ("face", "house"))
        if keep.any():
            image = nibabel.Nifti1Image(scans[..., here], bold.affine)
            x = NiftiMasker(mask, standardize="zscore_sample").fit().transform(image)
            yield x[keep].astype(np.float32), (label[here][keep] == "face").astype(np.uint8)


def read_labels(path: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Category and session of each scan: a header line, then 'label chunk'."""
    rows = [line.split() for line in path.read_text(errors="replace").splitlines()]
    rows = [row for row in rows if row and row != ["labels", "chunks"]]
    if not rows or any(len(row) != 2 or not row[1].isdigit() for row in rows):
        raise DataError(f"{name}: labels.txt is not 'label session' per line")
    return np.array([row[0] for row in rows]), np.array([int(row[1]) for row in rows])


def load_image(path: Path, name: str):
    import nibabel

    try:
        with path.open("rb") as stream:
            packed = stream.read(2) == b"\x1f\x8b"
        if packed and not path.name.endswith(".gz"):
            raise DataError(f"{name}: compressed, but not named .gz")
        image = nibabel.load(path)
        np.asanyarray(image.dataobj[..., :1])
        return image
    except (OSError, ValueError, EOFError, nibabel.filebasedimages.ImageFileError) as error:
        raise DataError(f"{name}: not a brain image ({error})") from None


def parse_subject1(files: dict, limits: dict) -> Decoded:
    """Subject 1's ventral temporal cortex: 577 voxels, 12 sessions. The rest scans are not in this file, so
    each session is standardised over its 72 stimulus scans. The last two sessions are held out (our
    choice)."""
    (name,) = files
    try:
        with np.load(files[name], allow_pickle=False) as z:
            raw, label, run, ijk = (z[key] for key in ("X", "category", "run", "ijk0"))
    except Exception as error:  # a damaged zip raises a dozen different things
        raise DataError(f"{name}: not the expected npz ({error!r})"[:200]) from None
    if raw.ndim != 2 or not len(raw) == len(label) == len(run) or ijk.shape != (raw.shape[1], 3):
        raise DataError(
            f"{name}: arrays {raw.shape}, {label.shape}, {run.shape}, {ijk.shape} do not fit together"
        )
    if (ijk < 0).any() or (ijk >= GRID).any():
        raise DataError(f"{name}: a voxel lies outside the grid {GRID}")
    X = np.empty(raw.shape, np.float32)
    for session in np.unique(run):
        X[run == session] = standardised(raw[run == session].astype(np.float64))
    keep = np.isin(label, ("face", "house"))
    sessions, groups = np.unique(run[keep], return_inverse=True)
    extra = geometry(np.ravel_multi_index(ijk.T, GRID), GRID, np.diag([*VOXEL_MM, 1.0]))
    split = (groups >= len(sessions) - 2).astype(np.uint8)
    return Decoded(X[keep], (label[keep] == "face").astype(np.uint8), groups.astype(np.int32), split, extra)


def standardised(x: np.ndarray) -> np.ndarray:
    deviation = x.std(axis=0, ddof=1)
    return (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def geometry(index: np.ndarray, grid: tuple[int, ...], affine: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "voxel": index.astype(np.int32),
        "grid": np.array(grid, np.int32),
        "affine": np.asarray(affine, float),
    }


def standin(
    rng: np.random.Generator,
    grid: tuple[int, int, int] = GRID,
    voxels: int = VOXELS,
    runs: tuple[int, ...] = (12, 12, 12, 12, 11, 12),
) -> Decoded:
    """Smooth spatial noise in an egg-shaped mask of as many voxels, and a sparse signal: a few small regions
    that answer to faces or to houses, more or less strongly from subject to subject."""
    from scipy.ndimage import gaussian_filter

    axes = [(np.arange(size) - (size - 1) / 2) / (size / 2) for size in grid]
    distance = axes[0][:, None, None] ** 2 + axes[1][None, :, None] ** 2 + axes[2][None, None, :] ** 2
    inside = np.sort(np.argsort(distance, axis=None, kind="stable")[:voxels])
    signal = np.zeros(grid, np.float32)
    for i in range(8):
        at = [int(rng.integers(size // 3, 2 * size // 3)) for size in grid]
        signal[tuple(at)] = 1 if i % 2 else -1
    signal = gaussian_filter(signal, 1.2).ravel()[inside]
    signal /= np.abs(signal).max()
    signal[np.abs(signal) < 0.1] = 0
    X = np.empty((sum(runs) * SCANS, voxels), np.float32)
    y = np.tile(np.repeat(np.array([1, 0], np.uint8), SCANS // 2), sum(runs))
    subject = np.repeat(np.arange(1, len(runs) + 1, dtype=np.int8), [SCANS * run for run in runs])
    strength = rng.uniform(0.5, 1.1, len(runs))
    scan = np.zeros(voxels, np.float32)
    for i in range(len(X)):
        fresh = gaussian_filter(rng.standard_normal(grid, dtype=np.float32), 1.0, truncate=2.5).ravel()[
            inside
        ]
        scan = 0.5 * scan + fresh / fresh.std()  # neighbouring scans of a session resemble each other
        X[i] = scan + strength[subject[i] - 1] * signal * (1 if y[i] else -1)
    for session in range(sum(runs)):
        rows = slice(session * SCANS, (session + 1) * SCANS)
        X[rows] = standardised(X[rows])
    groups = np.repeat(np.arange(sum(runs), dtype=np.int32), SCANS)
    affine = np.diag([*VOXEL_MM, 1.0])
    affine[:3, 3] = HEAD_MM - (np.array(grid) - 1) / 2 * VOXEL_MM
    extra = {"subject": subject, **geometry(inside, grid, affine)}
    return Decoded(X, y, groups, (subject == len(runs)).astype(np.uint8), extra)
