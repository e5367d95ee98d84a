"""Weights of a linear model drawn on the brain with nilearn."""

import gc

import nibabel
import numpy as np
from nilearn import plotting

from fedrepro.reporting import panels

VENTRAL_TEMPORAL = (0.0, -52.0, -14.0)  # mm, between the two fusiform gyri


def image(w: np.ndarray, geometry: dict):
    """The weights as a brain image. An affine without an origin knows voxel sizes only: centre its voxels."""
    grid = tuple(int(n) for n in geometry["grid"])
    index = geometry["voxel"].astype(int)
    volume = np.zeros(int(np.prod(grid)), np.float32)
    volume[index] = w
    affine = np.array(geometry["affine"], float)
    if not affine[:3, 3].any():
        centre = np.mean(np.unravel_index(index, grid), axis=1)
        affine[:3, 3] = VENTRAL_TEMPORAL - affine[:3, :3] @ centre
    return nibabel.Nifti1Image(volume.reshape(grid), affine)


def rectangle(ax) -> tuple[float, ...]:
    return tuple(round(float(side), panels.PLACES) for side in ax.get_position().bounds)


def side_by_side(figure, axes, weights: dict[str, np.ndarray], geometry: dict, cut_by: str) -> None:
    """One column per model: a glass brain, and the axial slice with the largest weight of `cut_by`, in which a line
    goes around the voxels there are.

    nilearn draws into a rectangle of the figure, so the layout is settled before it is asked.
    """
    gc.freeze()  # nilearn collects garbage at every image: what is there already is none
    for ax in axes.flat:
        ax.set_axis_off()
    figure.draw_without_rendering()
    images = {name: image(w, geometry) for name, w in weights.items()}
    mask = image(np.ones(len(geometry["voxel"])), geometry)
    largest = np.unravel_index(np.abs(images[cut_by].dataobj).argmax(), images[cut_by].shape)
    height = (images[cut_by].affine @ [*largest, 1.0])[2]
    for (top, bottom), (name, img) in zip(axes.T, images.items(), strict=True):
        limit = float(np.abs(weights[name]).max()) or 1.0
        shared = {
            "figure": figure, "display_mode": "z", "threshold": 1e-4, "vmax": limit, "colorbar": False, "annotate": False,
        }  # fmt: skip
        plotting.plot_glass_brain(img, axes=rectangle(top), plot_abs=False, **shared)
        cut = {"bg_img": None, "cut_coords": [height], "draw_cross": False}
        slice_ = plotting.plot_stat_map(img, axes=rectangle(bottom), **cut, **shared)
        slice_.add_contours(mask, levels=[0.5], colors="#7F7F7F", linewidths=0.8)
