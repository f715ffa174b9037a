"""Runs of BKB, BBKB and EK-UCB on given pulls, values and uniform numbers.

The kernel is the squared exponential in the plane, the noise 1. Arms are pulled in a given order.
"""

from mpmath import exp, eye, inverse, matrix, mpf

ARMS = [
    [0.1, 0.2],
    [0.15, 0.22],
    [0.8, 0.75],
    [0.5, 0.5],
    [0.52, 0.47],
    [0.9, 0.1],
    [0.88, 0.15],
    [0.3, 0.85],
    [0.25, 0.8],
    [0.05, 0.6],
]
LENGTHSCALE = 0.25
PULLS = [3, 4, 0, 3, 1, 0, 5, 3, 6, 5, 7, 3, 8, 9, 2, 4]
VALUES = [0.9, 0.4, -0.3, 1.2, -0.1, 0.2, 2.1, 0.7, 1.6, 1.9, -1.4, 1.1, -0.8, 0.3, 0.6, 1.3]
_STATE = 20_260_727


def uniforms(n):
    """Return n numbers of a linear congruential generator, to four digits."""
    state, found = _STATE, []
    for _ in range(n):
        state = (1_103_515_245 * state + 12_345) % 2**31
        found.append(round(state / 2**31, 4))
    return found


def kernel(a, b):
    """Return the squared exponential of two arms."""
    squares = [(mpf(x) - mpf(y)) ** 2 for x, y in zip(ARMS[a], ARMS[b], strict=True)]
    return exp(-sum(squares) / (2 * mpf(LENGTHSCALE) ** 2))


def gram(a, b):
    """Return the kernel matrix of two lists of arms."""
    return matrix([[kernel(i, j) for j in b] for i in a])


def sketch(dictionary, pulls, values, lam):
    """Return mean and scaled variance of every arm in a dictionary, and of batches the same.

    Calandriello et al. 2019, eqs. 2-4, with ``z(x)'z(x') = k_S(x)' K_S^-1 k_S(x')``.
    """
    everyone = range(len(ARMS))
    if not dictionary:
        return [mpf(0)] * len(ARMS), [1 / lam] * len(ARMS)  # section 2: k / lambda
    k_sx, k_s = gram(dictionary, everyone), gram(dictionary, dictionary)
    k_st = gram(dictionary, pulls) if pulls else matrix(len(dictionary), 0)
    heard = k_st * k_st.T if pulls else matrix(len(dictionary), len(dictionary))
    big = inverse(heard + lam * k_s)  # Zenati et al., Prop. 4.2: Lambda = (K_ZS K_SZ + lam K_ZZ)^-1
    gamma = k_st * matrix(values) if pulls else matrix(len(dictionary), 1)  # Prop. 4.2: Gamma
    delta = big - inverse(k_s) / lam  # Prop. 4.2: Lambda - K_ZZ^-1 / lam
    mean = k_sx.T * (big * gamma)  # eq. 3 of BKB; Prop. 4.2: mu~
    spread = k_sx.T * delta * k_sx
    return list(mean), [1 / lam + spread[x, x] for x in everyone]  # eq. 4; Prop. 4.2: sigma~²


def bkb(lam, q_bar, law):
    """Return a run of Algorithm 1 of Calandriello et al. 2019."""
    drawn, steps, dictionary = iter(uniforms(200)), [], [PULLS[0]]  # Algorithm 1: S_1 = {x_1}
    used = [next(drawn)]  # the engine draws for the first arm too
    for t in range(1, len(PULLS) + 1):
        mean, variance = sketch(dictionary, PULLS[:t], VALUES[:t], lam)  # eqs. 3-4
        steps.append({"dictionary": sorted(dictionary), "mean": mean, "variance": variance})
        if t == len(PULLS):
            break
        seen = list(dict.fromkeys(PULLS[: t + 1]))  # Algorithm 1: i = 1 .. t + 1
        dictionary, chances = [], {}
        for arm in seen:
            n = PULLS[: t + 1].count(arm)
            once = min(mpf(1), q_bar * variance[arm])  # Algorithm 1: p = q sigma_t²(x)
            p = min(mpf(1), q_bar * n * variance[arm]) if law == "union" else 1 - (1 - once) ** n
            chances[arm] = p
            used.append(next(drawn))
            if used[-1] < p:
                dictionary.append(arm)  # Algorithm 1: Bernoulli(p)
        dictionary = dictionary or [max(seen, key=chances.get)]  # ours: never empty
    return {"rule": "bkb", "law": law, "q_bar": q_bar, "uniforms": used, "steps": steps}


def bbkb(lam, q_bar, threshold):
    """Return a run of Algorithm 1 of Calandriello et al. 2020 with the rule of Lemma 1."""
    drawn, used, steps = iter(uniforms(200)), [], []
    dictionary, heard, start = [], 0, [1 / lam] * len(ARMS)
    criterion = mpf(1)
    for t, arm in enumerate(PULLS, start=1):
        criterion += start[arm]  # Lemma 1: 1 + sum of variances at the start of the batch
        before = criterion
        closed = criterion > threshold  # Algorithm 1, l. 5: goes on while at most C
        closed = closed or not dictionary  # ours: planning shrinks no variance there
        if closed:
            seen = list(dict.fromkeys(PULLS[:t]))
            dictionary = []
            chances = {}
            for each in seen:
                n = PULLS[:t].count(each)
                chances[each] = min(mpf(1), q_bar * n * start[each])  # l. 13: sigma at fb(t)
                used.append(next(drawn))
                if used[-1] < chances[each]:
                    dictionary.append(each)
            dictionary = dictionary or [max(seen, key=chances.get)]
            heard, criterion = t, mpf(1)  # l. 10: fb(t + 1) = t + 1
            mean, start = sketch(dictionary, PULLS[:t], VALUES[:t], lam)  # l. 18
        else:
            mean, _ = sketch(dictionary, PULLS[:heard], VALUES[:heard], lam)  # frozen in a batch
        _, variance = sketch(dictionary, PULLS[:t], VALUES[:t], lam)  # l. 7: the new sigma
        steps.append(
            {
                "dictionary": sorted(dictionary),
                "closed": closed,
                "criterion": before,
                "mean": mean,
                "variance": variance,
            }
        )
    return {
        "rule": "bbkb",
        "q_bar": q_bar,
        "threshold": threshold,
        "uniforms": used,
        "steps": steps,
    }


def ek(lam, mu, gamma):
    """Return a run of EK-UCB with KORS: Zenati et al. 2022, Algorithm 2 and eq. 41."""
    used, steps, dictionary, p_of = uniforms(len(PULLS)), [], [], {}
    eps = mpf("0.5")
    for t, (arm, uniform) in enumerate(zip(PULLS, used, strict=True), start=1):
        tau = score(dictionary, p_of, arm, mu, eps)
        p = min(gamma * tau, mpf(1)) if dictionary else mpf(1)  # section 4: p~ = min(gamma tau~, 1)
        if uniform < p and arm not in dictionary:  # ours: a repeated arm changes no span
            dictionary, p_of = [*dictionary, arm], p_of | {arm: p}
        mean, variance = sketch(dictionary, PULLS[:t], VALUES[:t], lam)
        steps.append(
            {"dictionary": sorted(dictionary), "score": tau, "mean": mean, "variance": variance}
        )
    return {"rule": "ek", "mu": mu, "gamma": gamma, "uniforms": used, "steps": steps}


def score(dictionary, p_of, arm, mu, eps):
    """Return tau~ of an arm against the weighted dictionary."""
    points = [*dictionary, arm]
    weights = [1 / p_of[each] ** mpf("0.5") for each in dictionary] + [mpf(1)]  # eq. 41: S
    m = len(points)
    weighted = matrix(m, m)
    for i, a in enumerate(points):
        for j, b in enumerate(points):
            weighted[i, j] = weights[i] * kernel(a, b) * weights[j]  # eq. 41: S K S
    column = matrix([w * kernel(a, arm) for a, w in zip(points, weights, strict=True)])
    explained = (column.T * inverse(weighted + mu * eye(m)) * column)[0]
    return (1 + eps) / mu * (kernel(arm, arm) - explained)  # eq. 41


def cases():
    """Return runs at several ridges, laws and budgets."""
    runs = []
    for lam in (mpf("0.5"), mpf(2)):
        made = [bkb(lam, mpf(1), "union"), bkb(lam, mpf(2), "per_obs")]
        made += [bbkb(lam, mpf(1), mpf("1.8")), bbkb(lam, mpf(2), mpf("1.3"))]
        made += [ek(lam, lam, mpf(1)), ek(lam, lam / 4, mpf("0.4"))]
        runs += [run | {"ridge": lam} for run in made]
    common = {"arms": ARMS, "lengthscale": LENGTHSCALE, "pulls": PULLS, "values": VALUES}
    return [common | run for run in runs]
