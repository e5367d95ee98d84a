"""The figures of Dal Fabbro et al., and ours on what they leave open."""

from fedrepro.figures import panels, style

COST = r"relative cost $f(\theta^t) - f(\theta^\star)$"
ROUNDS = "communication rounds"


def fig4(results):
    """‖θ − θ*‖ by round for ρ* and λ_{q+1}, on songs and on news."""
    figure, (axes,) = panels.grid(1, 2)
    sources = (("shed_msd_iid", "shed_ls_rho", "(a) 1M Songs"), ("shed_news", "shed_ls", "(b) Online News"))
    for ax, (experiment, block, title) in zip(axes, sources, strict=True):
        rows = results.traces(experiment)
        rows = rows[rows.algorithm == block]
        for rho, words, colour in (("optimal", r"$\rho_t^\star$", style.RED), ("next", r"$\hat\lambda_{q_t+1}$", style.BLUE)):  # fmt: skip
            dash = "-" if rho == "optimal" else style.DASHES[1]
            cells = rows[rows.p_rho == rho]
            panels.curve(ax, cells, "distance", x="exchanges", label=words, colour=colour, dash=dash)
        ax.set(yscale="log", xlabel=ROUNDS, title=title, ylim=(1e-10, None))
    axes[0].set_ylabel(r"$\|\theta^t - \theta^\star\|$")
    axes[0].legend()
    return figure
