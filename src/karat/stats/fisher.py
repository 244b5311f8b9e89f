"""Tails of Fisher's F and Student's t: the chance of a value as large as one that was seen, by scipy.special."""

from __future__ import annotations


def f_tail(f: float, between: float, within: float) -> float:
    """P(F >= f) with so many degrees of freedom; they need not be whole. `scipy.stats.f.sf` gives the same.

    >>> round(f_tail(4.0, 2, 27), 6), f_tail(0, 2, 27)
    (0.030079, 1.0)
    """
    from scipy.special import fdtrc

    if between <= 0 or within <= 0:
        raise ValueError(f"{between} and {within} degrees of freedom")
    return float(fdtrc(between, within, f)) if f > 0 else 1.0


def t_tail(t: float, freedom: float) -> float:
    """P(|T| >= |t|): two-sided, as t squared is F with one degree of freedom between.

    >>> round(t_tail(2.2622, 9), 4)
    0.05
    """
    return f_tail(t * t, 1, freedom)
