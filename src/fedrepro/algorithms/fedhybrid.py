"""FedHybrid: gradient and Newton clients in one primal-dual method. Niu & Wei, Algorithm 1."""

from fedrepro.algorithms import algorithm


@algorithm(needs={"gradient", "curvature"})
def fedhybrid(clients, *, newton, chosen="random", mu=1.0, a=1.0, b=1.0, newton_a=1.0, newton_b=1.0):
    """`newton` clients (J2), `chosen` at `random` or by how stiff they are, take Newton-type updates; the rest
    (J1) take gradient-type ones. FedH-G has none of them, FedH-K has K, FedH-N has all.

    a_i, b_i are `a`, `b` for J1 and `newton_a`, `newton_b` for J2, or `bound`: the largest that (4.2) allows.
    """
    J2 = clients.newton_clients(newton, chosen)
    a, b = clients.personal(J2, mu, a, b, newton_a, newton_b)
    x0 = clients.start
    x = clients.stack(x0)
    dual = 0.0 * x
    while True:
        clients.receive(x0)
        D = clients.update_matrix(x, J2, mu)  # I for J1, ∇²f_i(x_i) + μI for J2
        slope = clients.gradients(x) - dual + mu * (x - x0)  # ∇_x of the augmented Lagrangian (2.1)
        x, dual = x - a * D.solve(slope), dual + b * D.apply(x0 - x)  # lines 5-6 and 9-10
        x0 = clients.consensus(x, dual, mu)  # line 12
        yield x0
