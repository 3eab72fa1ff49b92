"""Scattering self-energies in JAX: one contraction a frequency."""

import jax.numpy as jnp


def loss(neigh_idx, dH, G, D, Sigma):
    gathered = G[:, :, neigh_idx]
    energies = G.shape[1]
    for w in range(D.shape[1]):
        left = jnp.einsum("keabxy,abiyz->keabixz", gathered[:, : energies - w], dH)
        right = jnp.einsum("abjzv,qabij->abizv", dH, D[:, w])
        Sigma = Sigma.at[:, w:].add(jnp.einsum("keabixz,abizv->keaxv", left, right))
    return jnp.sum(Sigma.real)
