"""Repeated smoothing with weights 1/4, 1/2, 1/4; both ends stay."""


def reference(u, STEPS, **_):
    for _step in range(STEPS):
        inner = 0.25 * u[:, :-2] + 0.5 * u[:, 1:-1] + 0.25 * u[:, 2:]
        u = u.copy()
        u[:, 1:-1] = inner
    return {"u": u}
