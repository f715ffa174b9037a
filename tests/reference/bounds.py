"""Confidence bounds of Flynn & Reeb (arXiv 2403.12732), of AY and of IGP.

The ends of CMM come with a certificate: a function of the confidence set that attains them.
"""

from mpmath import det, exp, eye, inverse, log, matrix, mpf, sqrt

X = [[0.05], [0.2], [0.22], [0.5], [0.71], [0.9]]
Y = [0.61, -0.42, -0.35, 1.34, 0.27, -1.05]
AT = [[0.0], [0.21], [0.36], [0.5], [0.8], [1.1]]
LENGTHSCALE = 0.3


def rbf(a, b):
    """Return the squared exponential of two points."""
    squares = sum((mpf(x) - mpf(y)) ** 2 for x, y in zip(a, b, strict=True))
    return exp(-squares / (2 * mpf(LENGTHSCALE) ** 2))


class Measured:
    """The first t measurements under the assumptions sigma, B, delta and c."""

    def __init__(self, t, sigma, norm, delta, c):
        self.y, self.t = matrix([mpf(v) for v in Y[:t]]), t
        self.k = matrix([[rbf(a, b) for b in X[:t]] for a in X[:t]])
        self.sigma, self.norm, self.delta, self.c = map(mpf, (sigma, norm, delta, c))
        inner = eye(t) + self.c / self.sigma**2 * self.k
        fit = (self.y.T * inverse(inner) * self.y)[0]
        # section 4.1, the radius R_t² of the mixture N(0, c K):
        self.r2 = fit + self.sigma**2 * log(det(inner)) - 2 * self.sigma**2 * log(self.delta)

    def solved(self, alpha):
        return inverse(self.k + alpha * eye(self.t))

    def ridge(self, x, alpha):
        """Return mu_alpha(x) and rho_alpha²(x)."""
        cross = matrix([rbf(x, each) for each in X[: self.t]])
        solved = self.solved(alpha)
        mean = (cross.T * solved * self.y)[0]  # Cor. 4.3: mu_alpha
        return mean, rbf(x, x) - (cross.T * solved * cross)[0]  # Cor. 4.3: rho_alpha²

    def rt2(self, alpha):
        """Return the squared radius of the ellipsoid of alpha."""
        fit = (self.y.T * self.solved(alpha) * self.y)[0]
        return self.r2 + alpha * self.norm**2 - alpha * fit  # Cor. 4.3 with Lemma C.1

    def ends(self, x, alpha):
        mean, rho2 = self.ridge(x, alpha)
        half = sqrt(self.rt2(alpha) / alpha) * sqrt(rho2)  # Cor. 4.6
        return mean - half, mean + half

    def amm(self, x):
        return self.ends(x, self.sigma**2 / self.c)  # Cor. 4.6 at alpha = sigma² / c

    def dmm(self, x):
        grid = [f * self.sigma**2 / self.c for f in map(mpf, ("0.1", "0.3", "1", "3", "10"))]
        each = [self.ends(x, alpha) for alpha in grid]  # section 5.4: the grid A
        return max(low for low, _ in each), min(high for _, high in each)

    def cmm(self, x):
        """Return the extreme values over the set: Theorem 4.5, with primal and dual equal."""
        return tuple(self.extreme(x, sign) for sign in (-1, 1))

    def extreme(self, x, sign):
        scale = sign * self.norm / sqrt(rbf(x, x))
        misses = [scale * rbf(x, each) - self.y[i] for i, each in enumerate(X[: self.t])]
        if sum(miss**2 for miss in misses) <= self.r2:  # Thm 4.4: ||f|| <= B alone bounds
            return scale * rbf(x, x)

        def value(log_alpha):
            mean, rho2 = self.ridge(x, exp(log_alpha))
            return mean + sign * sqrt(self.rt2(exp(log_alpha)) * rho2 / exp(log_alpha))  # Thm 4.5

        grid = [mpf(i) / 4 for i in range(-60, 80)]
        best = min(grid, key=lambda each: sign * value(each))
        low, high, small = best - mpf("0.25"), best + mpf("0.25"), mpf(10) ** -12
        for _ in range(90):  # bisection on the slope: Theorem 4.5 is quasi-convex in alpha
            middle = (low + high) / 2
            falls = sign * (value(middle + small) - value(middle - small)) < 0
            low, high = (middle, high) if falls else (low, middle)
        found = (low + high) / 2
        self.certify(x, sign, exp(found), value(found))
        return value(found)

    def certify(self, x, sign, alpha, value):
        """Fail unless a function of the set attains the value (Theorem 4.4)."""
        _, rho2 = self.ridge(x, alpha)
        shift = sign * sqrt(self.rt2(alpha) / (alpha * rho2))
        cross = matrix([rbf(x, each) for each in X[: self.t]])
        solved = self.solved(alpha)
        # f = mu_alpha + shift (k(., x) - k(., X) (K + alpha)^-1 k(X, x)), by coefficients
        on_x = solved * (self.y - shift * cross)
        at = self.k * on_x + shift * cross
        norm2 = (on_x.T * self.k * on_x)[0] + 2 * shift * (cross.T * on_x)[0] + shift**2 * rbf(x, x)
        miss2 = sum((at[i] - self.y[i]) ** 2 for i in range(self.t))
        assert abs((cross.T * on_x)[0] + shift * rbf(x, x) - value) < mpf(10) ** -15
        assert abs(norm2 - self.norm**2) < mpf(10) ** -8, norm2  # ||f|| = B
        assert abs(miss2 - self.r2) < mpf(10) ** -8, miss2  # ||f_t - y|| = R_t

    def ay(self, x):
        lam = self.sigma**2 / self.c
        spread = log(det(eye(self.t) + self.k / lam)) - 2 * log(self.delta)
        width = self.sigma * sqrt(spread) + sqrt(lam) * self.norm  # Abbasi-Yadkori 2012, Thm 3.11
        mean, rho2 = self.ridge(x, lam)
        half = width / sqrt(lam) * sqrt(rho2)
        return mean - half, mean + half

    def igp(self, x, eta):
        one = 1 + mpf(eta)
        spread = log(det(eye(self.t) + self.k / one)) + self.t * mpf(eta) - 2 * log(self.delta)
        mean, rho2 = self.ridge(x, one)
        half = (self.sigma * sqrt(spread) + self.norm) * sqrt(rho2)  # Chowdhury & Gopalan, Thm 2
        return mean - half, mean + half


def cases():
    """Return the bounds of all points after 2 and 6 measurements, under two sets of assumptions."""
    found = []
    for t in (2, 6):
        for sigma, norm, delta, c in ((0.2, 4, 0.1, 0.5), (0.35, 6, 0.01, 2)):
            measured = Measured(t, sigma, norm, delta, c)
            ends = {name: [getattr(measured, name)(x) for x in AT] for name in ("amm", "dmm", "ay")}
            ends["cmm"] = [measured.cmm(x) for x in AT]
            ends["igp"] = [measured.igp(x, 0.01) for x in AT]
            found.append(
                {"x": X[:t], "y": Y[:t], "at": AT, "lengthscale": LENGTHSCALE, "eta": 0.01}
                | {"sigma": sigma, "norm": norm, "delta": delta, "c": c}
                | {"r2": measured.r2, "ends": ends}
            )
    return found
