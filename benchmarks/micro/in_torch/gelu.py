import torch


def loss(x):
    return torch.sum(torch.nn.functional.gelu(x, approximate="tanh"))
