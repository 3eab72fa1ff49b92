"""Lists whose length only the run time knows: positions, slices, tuples as items, queues and stacks."""

from collections import OrderedDict, defaultdict, deque

import numpy as np

from . import numbers, program


@program(numbers(6), 3)
def window_by_slices(x, n):
    window = []
    total = 0.0
    for i in range(len(x)):
        window.append(x[i])
        if len(window) > n:
            window = window[1:]
        total += sum(window) ** 2
    return total


@program(numbers(6), 3)
def window_by_pop(x, n):
    window = []
    total = 0.0
    for i in range(len(x)):
        window.append(x[i] * x[0])
        if len(window) > n:
            total += 3 * window.pop(0)
        total += sum(window) ** 2
    return total


@program(numbers(6), 3)
def window_by_del(x, n):
    window = []
    total = 0.0
    for i in range(len(x)):
        window.append(x[i])
        if len(window) > n:
            del window[0]
        total += sum(window) ** 2
    return total


@program(numbers(6, 2))
def slices_of_every_kind(x):
    rows = []
    for i in range(len(x)):
        rows.append(x[i] * x[0])
    last, odd, backwards = np.stack(rows[-3:]), np.array(rows[1::2]), rows[::-1]
    return np.sum(last**2) * sum(rows[:2]).sum() + np.sum(odd**2) + sum(backwards[:2])[0] + len(rows[7:])


@program(numbers(6))
def inserted_anywhere(x):
    items = []
    for i in range(len(x)):
        items.insert(i // 2, x[i])
    items.insert(1, x[0])
    items.insert(-1, x[1])
    items.insert(100, x[2])
    return sum([i * v * v for i, v in enumerate(items)])


@program(numbers(6), 3)
def taken_from_anywhere(x, n):
    items = []
    for i in range(len(x)):
        items.append(x[i])
    a = items.pop(2)
    b = items.pop(-2)
    c = items.pop(n - 2)
    items.pop()
    del items[0]
    return a * b * c + items[0] * items[-1] * len(items)


@program(numbers(6))
def slices_assigned_and_deleted(x):
    items = []
    for i in range(len(x)):
        items.append(x[i])
    items[1:3] = [x[0], x[1] ** 2, 3.0]
    del items[2:4]
    items[:1] = items[-2:]
    del items[5:2]
    return sum([i * v for i, v in enumerate(items)])


@program(numbers(6))
def a_slice_is_another_list(x):
    items = []
    for i in range(len(x)):
        items.append(x[i])
    copy = items[:]
    copy.append(2.0)
    items[0] = 5.0 * x[1]
    items.append(x[0])
    return sum([i * v for i, v in enumerate(items)]) + sum([i * v for i, v in enumerate(copy)])


@program(numbers(6))
def queue_of_arrays(x):
    queue = []
    for i in range(len(x)):
        queue.append(np.array([x[i], x[i] ** 2]))
    total = 0.0
    while len(queue) > 1:
        a = queue.pop(0)
        b = queue.pop(0)
        queue.append(a * b + 0.1)
        total += a.sum()
    return total + queue[0].sum()


@program(numbers(6))
def pairs_in_a_list(x):
    history = []
    v = 0.0
    for i in range(len(x)):
        v = v * 0.5 + x[i]
        history.append((x[i], v))
    total = 0.0
    for a, b in history:
        total += a * b * b
    return total


@program(numbers(6), 3)
def triples_with_arrays(x, n):
    history = []
    v = np.zeros(6)
    for i in range(n):
        v = v * 0.5 + x * i
        history.append((i, v, x[i]))
    total = 0.0
    for i, b, c in reversed(history):
        total += i * np.sum(b) * c
    return total + history[-1][1].sum() * history[0][2]


@program(numbers(6), 3)
def stack_of_pairs(x, n):
    stack = [(0.5 * x[0], 0)]
    total = 0.0
    while stack:
        v, depth = stack.pop()
        total += v * v
        if depth < n:
            stack.append((v * x[depth], depth + 1))
            stack.append((v + x[depth], depth + 1))
    return total


@program(numbers(6))
def queue_of_pairs(x):
    queue = [(x[0], 1)]
    total = 0.0
    while queue:
        v, k = queue.pop(0)
        total += v
        if k < 8:
            queue.append((v * x[k % 3], 2 * k))
            queue.append((v - x[2], 2 * k + 1))
    return total


@program(numbers(6))
def tuples_in_tuples(x):
    history = []
    for i in range(len(x)):
        history.append((x[i], (x[i] ** 2, i)))
    return sum(a * b * i for a, (b, i) in history)


@program(numbers(6))
def table_of_rows(x):
    rows = []
    for i in range(len(x)):
        rows.append([x[i], x[i] ** 2])
    table = np.array(rows)
    return np.sum(table[:, 0] * table[:, 1])


@program(numbers(6))
def returns_a_list_of_pairs(x):
    history = []
    for i in range(len(x)):
        history.append((x[i], x[i] ** 2, i))
    return history


@program(numbers(6), 3)
def best_pair(x, n):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append((i, x[i]))
    best = (0, 0.0)
    for i, v in found:
        if v > best[1]:
            best = (i, v)
    return best[1] * x[best[0]] + max(pair[1] for pair in found) * len(found)


@program(numbers(6), 3, refused="may share memory")
def array_of_a_tuple_written(x, n):
    history = []
    for i in range(n):
        history.append((x * i, 1.0))
    a, _ = history[0]
    a[0] = 100.0
    return history[0][0].sum() + a.sum() * x[0]


@program(numbers(6), 3)
def length_of_a_text(x, n):
    label = f"n={n} of {x.shape[0]:3d}"
    return np.sum(x) * len(label) + len("abc") * x[0]


@program(numbers(6))
def star_takes_the_rest(x):
    a, *b, c = x
    *d, e = x[1:]
    f, *g = x
    return a * c + sum(b) + e * len(d) + f * sum(g) * d[0]


@program(numbers(6))
def stars_in_displays(x):
    a = [*x[:2], *x]
    b = [1.0, *x, x[0]]
    c = [*[x[0], x[1]], 2.0]
    return a[3] * sum(b) + len(a) * c[1] + np.array([0.0, *x]).sum()


@program(numbers(6))
def deque_with_a_longest_length(x):
    window = deque(maxlen=3)
    total = 0.0
    for v in x:
        window.append(v)
        total += sum(window) * len(window)
    return total + np.mean(window) * window[-1] + max(window) + np.array(window).sum()


@program(numbers(6))
def deque_at_both_ends(x):
    q = deque([x[0], x[1]])
    q.appendleft(x[2])
    q.rotate(1)
    q.extend(x[3:5])
    q.extendleft([x[0], 3.0])
    a, b = q.popleft(), q.pop()
    return a * b * 3 + q[0] + sum(i * v * v for i, v in enumerate(q)) + bool(q)


@program(numbers(6))
def breadth_first_by_deque(x):
    q = deque([(x[0], 0)])
    total = 0.0
    while q:
        v, depth = q.popleft()
        total += v * v
        if depth < 3:
            q.append((v * x[depth], depth + 1))
            q.append((v + x[1], depth + 1))
    return total + len(q)


@program(numbers(6))
def filter_with_a_delay_line(x):
    delay = deque([0.0] * 3, maxlen=3)
    out = np.zeros(6)
    for i in range(6):
        delay.appendleft(x[i])
        out[i] = delay[0] + 0.5 * delay[1] - 0.2 * delay[2]
    return np.sum(out**2)


@program(numbers(6))
def defaultdict_and_ordereddict(x):
    d = defaultdict(float)
    for i in range(6):
        d[i % 2] += x[i]
    groups = defaultdict(list)
    for i, k in enumerate("abcab"):
        groups[k].append(x[i])
    o = OrderedDict()
    o["a"] = x[0]
    o["b"] = x[1]
    total = sum(sum(v) for v in groups.values()) * len(groups)
    return d[0] * d[1] + total + ("a" in groups) + sum(o.values()) * o["a"]


@program(numbers(6))
def lists_stored_into_arrays(x):
    y = np.zeros((2, 3))
    y[0] = [v * v for v in x[:3]]
    y[1, :] = [v * 2 for v in x[3:]]
    z = np.zeros((2, 3))
    z[...] = [v + y[0, 1] for v in x[3:]]
    z += [v**3 for v in x[:3]]
    return np.sum(y * y * z) + np.sum(np.hypot([v for v in x[:3]], z))


@program(numbers(5), refused="itself an item of a list of run-time length")
def a_write_to_an_inner_list(x):
    pairs = []
    for v in x:
        pairs.append([v, 1])
    pairs[2][0] = x[0] * 4
    return pairs[2][0]


@program(numbers(5), refused="itself an item of a list of run-time length")
def an_inner_list_grows(x):
    pairs = []
    for v in x:
        pairs.append([v, v])
    pairs[2].append(x[0])
    return pairs[2][0] * len(pairs[2])


@program(numbers(5), refused="itself an item of a list of run-time length")
def inner_lists_written_in_a_loop(x):
    pairs = []
    for v in x:
        pairs.append([v, v])
    for pair in pairs:
        pair[0] = pair[0] * 2
    return pairs[2][0]


@program(np.arange(1.0, 5.0), expect=(np.array([7.0, 1.0, 1.0, 0.0]),))
def items_of_different_lengths_meet(x):
    rows = []
    for i in range(3):
        rows.append(x[: i + 1] * 1.0)
    return np.sum(rows[0] * rows[2])


@program(numbers(5))
def pieces_of_a_comprehension_meet(x):
    heads = [np.sin(x[: i + 1]) for i in range(len(x))]
    tails = [x[i:] for i in range(len(x))]
    lengths = [len(h) for h in heads]
    total = np.sum(heads[0] * heads[4]) + np.sum(tails[-1] + tails[0] * tails[-1])
    total += np.sum(np.ones(lengths[0]) * x[0] * heads[lengths[2]])
    return total + np.sum(heads[1] * tails[-2])


@program(numbers(5), 4)
def windows_that_grow_are_kept(x, n):
    kept = [x[:1] * 2]
    for i in range(n):
        kept.append(kept[0] * x[: i + 2])
        kept[0] = kept[0] + kept[-1][:1]
    return sum([np.sum(k) for k in kept])
