import torch


def loss(a, b, x):
    return torch.sum(torch.tanh(a * x + b) * torch.exp(-(x**2)) / (1.0 + x**2))
