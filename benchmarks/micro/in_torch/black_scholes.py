import torch


def normal(z):
    return 0.5 * (1.0 + torch.tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)))


def loss(spot, strike, volatility, years, rate):
    root = volatility * torch.sqrt(years)
    d1 = (torch.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    d2 = d1 - root
    return torch.sum(spot * normal(d1) - strike * torch.exp(-rate * years) * normal(d2))
