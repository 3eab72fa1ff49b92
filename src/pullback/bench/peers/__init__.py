"""The contenders, one module for each kind."""

from __future__ import annotations

from pullback.bench.peers.base import NoVersion, Peer, Program, Result
from pullback.bench.peers.hand import Hand, Numba
from pullback.bench.peers.in_c import C
from pullback.bench.peers.in_jax import Jax
from pullback.bench.peers.in_torch import Torch
from pullback.bench.peers.memory import Memory
from pullback.bench.peers.own import TARGETS, Pullback
from pullback.bench.peers.tracing import Advect, Autograd

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Pullback(),
        *(Pullback(target) for target in TARGETS),
        Hand(),
        C(),
        Memory(),
        Autograd(),
        Jax(),
        Torch(),
        Advect(),
        Numba(),
    )
}

__all__ = ["PEERS", "TARGETS", "NoVersion", "Peer", "Program", "Result"]
