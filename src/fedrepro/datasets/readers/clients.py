"""Clients' arrays in one .npy file, read client by client."""

from pathlib import Path

import numpy as np


class ClientRows:
    """Entry j of the array in a .npy file is what client j holds, read from the file when asked for and not kept: the
    pages of a memory map would stay with the process."""

    def __init__(self, path: str | Path):
        mapped = np.load(path, mmap_mode="r")
        if not mapped.flags.c_contiguous:
            raise ValueError(f"{path} is in Fortran order; save np.ascontiguousarray of it")
        self.path, self.dtype, self.shape, self.begin = Path(path), mapped.dtype, mapped.shape, mapped.offset
        self.count = int(np.prod(self.shape[1:]))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, j: int) -> np.ndarray:
        if not 0 <= j < len(self):
            raise IndexError(f"{self.path} has {len(self)} clients, and none of number {j}")
        at = self.begin + j * self.count * self.dtype.itemsize
        return np.fromfile(self.path, self.dtype, self.count, offset=at).reshape(self.shape[1:])
