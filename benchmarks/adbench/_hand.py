"""The hand of both hand tracking objectives: a skeleton, a skin that follows it, and random ones to measure with."""

import numpy as np

BONES = 22
PARENTS = (-1, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 0, 13, 14, 15, 0, 17, 18, 19, 0)
THETA = 26  # rotation and place of the hand (6), then four angles for each of five fingers


def random_model(rng, vertices):
    """A skeleton of ADBench's shape with a random skin: each vertex follows two bones."""
    relatives = np.tile(np.eye(4), (BONES, 1, 1))
    for i in range(BONES):
        relatives[i, :3, :3] = rotation_of(rng.normal(0.0, 0.3, 3))
        relatives[i, :3, 3] = rng.normal(0.0, 0.3, 3)
    inverses = np.linalg.inv(absolutes_of(relatives, PARENTS))
    positions = np.concatenate([rng.normal(0.0, 0.5, (vertices, 3)), np.ones((vertices, 1))], axis=1)
    weights = np.zeros((vertices, BONES))
    rows, share = np.arange(vertices), rng.random(vertices)
    first = rng.integers(0, BONES, vertices)
    weights[rows, first] = share
    weights[rows, (first + rng.integers(1, BONES, vertices)) % BONES] = 1.0 - share
    return np.array(PARENTS), relatives, inverses, positions, weights


def random_theta(rng):
    return rng.normal(0.0, 0.5, THETA)


def pose_of(theta):
    """Three rows for the hand (rotation, scale, place) and one of angles for each bone."""
    pose = np.zeros((BONES + 3, 3))
    pose[0, :] = theta[0:3]
    pose[1, :] = 1.0
    pose[2, :] = theta[3:6]
    at = 6
    row = 5
    for _ in range(5):
        for joint in range(3):
            pose[row, 0] = theta[at]
            at += 1
            if joint == 0:
                pose[row, 1] = theta[at]
                at += 1
            row += 1
        row += 1
    return pose


def rotation_of(angles):
    """The rotation of a joint, from its angles about x, z and y."""
    cx, cz, cy = np.cos(angles)
    sx, sz, sy = np.sin(angles)
    about_x = np.eye(3)
    about_x[1, 1], about_x[1, 2] = cx, -sx
    about_x[2, 1], about_x[2, 2] = sx, cx
    about_y = np.eye(3)
    about_y[0, 0], about_y[0, 2] = cy, sy
    about_y[2, 0], about_y[2, 2] = -sy, cy
    about_z = np.eye(3)
    about_z[0, 0], about_z[0, 1] = cz, -sz
    about_z[1, 0], about_z[1, 1] = sz, cz
    return about_z @ about_y @ about_x


def rotation_about(vector):
    """The rotation about an axis by the length of the vector."""
    angle = np.sqrt(np.sum(vector**2))
    if angle < 0.0001:
        return np.eye(3)
    x, y, z = vector / angle
    s, c = np.sin(angle), np.cos(angle)
    R = np.zeros((3, 3))
    R[0, 0] = x * x + (1 - x * x) * c
    R[0, 1] = x * y * (1 - c) - z * s
    R[0, 2] = x * z * (1 - c) + y * s
    R[1, 0] = x * y * (1 - c) + z * s
    R[1, 1] = y * y + (1 - y * y) * c
    R[1, 2] = y * z * (1 - c) - x * s
    R[2, 0] = x * z * (1 - c) - y * s
    R[2, 1] = z * y * (1 - c) + x * s
    R[2, 2] = z * z + (1 - z * z) * c
    return R


def absolutes_of(relatives, parents):
    """The place of each bone, from that of its parent, which comes before it."""
    absolutes = np.empty_like(relatives)
    for i in range(len(parents)):
        if parents[i] == -1:
            absolutes[i] = relatives[i]
        else:
            absolutes[i] = absolutes[parents[i]] @ relatives[i]
    return absolutes


def skin(theta, parents, base_relatives, inverse_base_absolutes, base_positions, weights):
    """The positions of all vertices in a pose."""
    pose = pose_of(theta)
    relatives = np.empty_like(base_relatives)
    for i in range(len(parents)):
        turn = np.eye(4)
        turn[:3, :3] = rotation_of(pose[i + 3])
        relatives[i] = base_relatives[i] @ turn
    absolutes = absolutes_of(relatives, parents)
    positions = np.zeros((len(base_positions), 3))
    for i in range(len(parents)):
        moved = base_positions @ (absolutes[i] @ inverse_base_absolutes[i]).T
        positions += moved[:, :3] * weights[:, i : i + 1]
    R = rotation_about(pose[0]) * pose[1]
    return positions @ R.T + pose[2]
