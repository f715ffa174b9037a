"""Learning from measured trips. What a car learns is one Bayesian linear model of its trips.

.. code-block:: text

    trip    y_i = x_i' b + e_i,   b ~ N(m, diag(s²)),   e_i ~ N(0, v_i)
            x_i: its terms at departure; y_i: its measured energy, Wh
            v_i = a² + b² km_i + d² km_i² + q_i, q_i the variance of its meter   (trips.noise)

    columns of x, in groups, with prior deviations s
            terms     physics of the vehicle, s by its file and sources          (trips.terms)
            level     energy by the prior means, drifts with the days            (trips.level)
            roads     features of the roads driven, s fitted: metres on sections over the roots of
                      their lengths (roads.sections), or L^-1 k(Z, e) times the dissipated energy,
                      k = k_G k_f graph Matérn x Matérn                          (roads.road_kernel)
            heights   junctions of a network without heights, s fitted           (trips.landmarks)
            cars      dissipated energy u_c and heating h_c of each car, s fitted
                                                                                 (fleet.car_effects)

    scales  (a, b, d, s_g) = argmax log N(y - X m; 0, Z Z' + diag v) + log-normal prior,
            Z = X diag(s), after 3, 10, 20, 30, 50, 75, 100, 150, 200, 300, ... trips
                                                                                 (trips.scales)
    update  t = v + |R' x|²,   b <- b + R R' x (y - x' b)/t,
            R <- R - R R' x x' R / (t + sqrt(t v)),   R R' the covariance of b   (trips.regression)
    cone    b+ = b + R argmin{|u| : C (b + R u) >= 0}, physical coefficients     (trips.cone)
    refuse  a trip with |y - x' b+| > 8 deviations is kept, not learned, and judged again after
            ten trips                                                            (trips.trip_belief)
    day     S: sums of rows of arms along a route, a tree or many trips. Mean S b+, covariance
            S R R' S' and the noise of each trip                                 (trips.sums)
    spread  past errors z_i = (y_i - x_i' b+)/sd_i, with a half-life of 60 trips, joined by a
            Student t of weight 30: all intervals, risks and ranges              (intervals)

The pace of roads stands beside it (`planning.forecasts.pace`), as do departures and the size of the
battery. `docs/explanation.md` works one trip by hand. Beliefs of models of edges are in `edges`.
Readers of logs, recorded trips and their roads have rooms of their own.
"""
