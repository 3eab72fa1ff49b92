import torch


def loss(x, y):
    return torch.mean(torch.log(1.0 + torch.exp(-x * y)))
