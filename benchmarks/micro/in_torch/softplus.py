import torch


def loss(x):
    return torch.sum(torch.nn.functional.softplus(x, threshold=40.0))
