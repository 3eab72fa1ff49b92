import numpy as np

from pullback.runtime import in_blocks


def layer_value_and_grad(params, x):
    """Value and gradient of `layer` (programs.py:152)."""
    params_w = params["w"]
    params_b = params["b"]
    t = x @ params_w
    value, t_bar, params_b_bar = in_blocks(
        fused_t_bar,
        ("sum", "rows", "sum"),
        t,
        params_b,
    )
    with np.errstate(all="ignore"):
        # programs.py:153  return np.sum(np.maximum(x @ params["w"] + params["b"], 0.0))
        params_w_bar = np.matmul(x.T, t_bar)
        params_b_bar = float(params_b_bar)
    return value, {"w": params_w_bar, "b": params_b_bar}


def fused_t_bar(t, params_b):
    """Elementwise work of `layer_value_and_grad`."""
    t_2 = t + params_b
    value = np.sum(np.maximum(t_2, 0.0))
    with np.errstate(all="ignore"):
        # programs.py:153  return np.sum(np.maximum(x @ params["w"] + params["b"], 0.0))
        t_3 = (t_2 > 0.0).astype(np.int8)
        t_bar = 0.5 * (t_3 + (t_2 >= 0.0).astype(np.int8))
        params_b_bar = np.sum(t_bar)
    return value, t_bar, params_b_bar


def layer_primal(params, x):
    """Value of `layer` (programs.py:152) and the residuals of its pullback."""
    params_w = params["w"]
    params_b = params["b"]
    t = x @ params_w + params_b
    return np.sum(np.maximum(t, 0.0)), (t, x.copy())


def layer_pullback(residuals, value_bar):
    """Cotangent of the value of `layer` -> cotangent of params."""
    t, x = residuals
    with np.errstate(all="ignore"):
        # programs.py:153  return np.sum(np.maximum(x @ params["w"] + params["b"], 0.0))
        t_2 = (t > 0.0).astype(np.int8)
        value = 0.5 * (t_2 + (t >= 0.0).astype(np.int8))
        t_bar = value_bar * value
        params_w_bar = np.matmul(x.T, t_bar)
        params_b_bar = float(np.sum(t_bar))
    return {"w": params_w_bar, "b": params_b_bar}
