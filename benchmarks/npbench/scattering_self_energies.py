"""Scattering self-energies of a quantum transport simulation: small complex products in eight nested loops."""

import numpy as np

PRESETS = {
    "S": {"Nkz": 2, "NE": 4, "Nqz": 2, "Nw": 2, "N3D": 2, "NA": 6, "NB": 2, "Norb": 3},
    "M": {"Nkz": 3, "NE": 5, "Nqz": 3, "Nw": 2, "N3D": 2, "NA": 10, "NB": 3, "Norb": 4},
    "paper": {"Nkz": 4, "NE": 10, "Nqz": 4, "Nw": 3, "N3D": 3, "NA": 20, "NB": 4, "Norb": 4},
}
GROUP = "other"
WRT = ("dH", "G", "D")
NOTE = "the loss is the real part of the sum"


def inputs(rng, Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb):
    def numbers(*shape):
        return rng.random(shape) + 1j * rng.random(shape)

    neigh_idx = ((np.arange(NA)[:, None] + np.arange(NB) - NB // 2) % NA).astype(np.int32)
    return (
        neigh_idx,
        numbers(NA, NB, N3D, Norb, Norb),
        numbers(Nkz, NE, NA, Norb, Norb),
        numbers(Nqz, Nw, NA, NB, N3D, N3D),
        np.zeros((Nkz, NE, NA, Norb, Norb), dtype=np.complex128),
    )


def kernel(neigh_idx, dH, G, D, Sigma):
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    for i in range(D.shape[-2]):
                        for j in range(D.shape[-1]):
                            for a in range(neigh_idx.shape[0]):
                                for b in range(neigh_idx.shape[1]):
                                    if E - w >= 0:
                                        left = G[k, E - w, neigh_idx[a, b]] @ dH[a, b, i]
                                        right = dH[a, b, j] * D[q, w, a, b, i, j]
                                        Sigma[k, E, a] += left @ right


def loss(neigh_idx, dH, G, D, Sigma):
    kernel(neigh_idx, dH, G, D, Sigma)
    return np.sum(Sigma.real)
