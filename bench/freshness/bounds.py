"""How fresh a web can be kept at all, by one who knows every rate: Lagrangian bounds, and the periodic optimum.

Freshness is the share of weight that is current, averaged over time. Rates are a day, budgets and caps fetches a day.
Sources: Cho and Garcia-Molina 2003 (the periodic optimum); the price of a fetch is the multiplier of the budget.
"""

import numpy as np

from bench.freshness.web import Floats, Integers

_HALVINGS = 50
_LONGEST = 2**16  # a period of so many days is never


def index(rate: Floats, days: Floats | Integers) -> Floats:
    """The price at which fetching a page of weight 1 now, `days` after the last time, is as good as a day later."""
    return (1 - np.exp(-rate * days) * (1 - days * np.expm1(-rate))) / rate


def disc_bound(rate: Floats, weight: Floats, budget: float) -> float:
    """No policy that fetches at whole days, `budget` a day on average, keeps the web fresher than this."""
    return bound_caps(rate, weight, budget, np.zeros(len(rate), np.int64), float("inf"))


def bound_caps(rate: Floats, weight: Floats, budget: float, host: Integers, cap: float) -> float:
    """The same where no host may be asked more than `cap` times a day: a price for the budget and one for each host.

    Whatever the prices, the Lagrangian is a bound; those of the bisection make it tight.
    """
    of_host = _host_prices(rate, weight, host, cap)
    low, high = -30.0, 30.0
    for _ in range(_HALVINGS):
        price = (low + high) / 2
        prices = np.maximum(of_host, np.exp(price))
        used = np.bincount(host, 1 / _period(rate, weight, prices[host]), len(prices))
        used = np.where(of_host > np.exp(price), cap, used)  # a host at its own price uses its cap up
        low, high = (price, high) if used.sum() > budget else (low, price)
    least = np.exp(high)
    prices = np.maximum(of_host, least)
    period = _period(rate, weight, prices[host])
    gained = np.where(period < _LONGEST, (-weight * np.expm1(-rate * period) / rate - prices[host]) / period, 0.0).sum()
    capped = cap * (prices - least).sum() if np.isfinite(cap) else 0.0
    return float((gained + capped + least * budget) / weight.sum())


def periodic_opt(rate: Floats, weight: Floats, budget: float) -> tuple[Floats, float]:
    """The best fetches a day of each page if any period will do, and the freshness: Cho and Garcia-Molina 2003.

    Pages that change far more often than they are fetched are worth the same at any frequency, as far as floats can
    tell: at one price they want nothing or all. They get what the others leave of the budget.
    """
    low, high = -30.0, 30.0
    for _ in range(_HALVINGS):
        price = (low + high) / 2
        low, high = (price, high) if _frequency(rate, weight, np.exp(price)).sum() > budget else (low, price)
    least, most = _frequency(rate, weight, np.exp(high)), _frequency(rate, weight, np.exp(low))
    undecided = (most - least).sum()
    frequency = least + (most - least) * min(1.0, (budget - least.sum()) / undecided) if undecided > 0 else least
    asked = np.maximum(frequency, 1e-300)
    fresh = np.where(frequency > 0, -np.expm1(-rate / asked) * asked / rate, 0.0)
    return frequency, float((weight * fresh).sum() / weight.sum())


def _host_prices(rate: Floats, weight: Floats, host: Integers, cap: float) -> Floats:
    """By host: the lowest price at which its pages ask for no more than the cap."""
    hosts = int(host.max()) + 1
    if not np.isfinite(cap):
        return np.zeros(hosts)
    low, high = np.full(hosts, -30.0), np.full(hosts, 30.0)
    for _ in range(_HALVINGS):
        price = (low + high) / 2
        used = np.bincount(host, 1 / _period(rate, weight, np.exp(price)[host]), hosts)
        low, high = np.where(used > cap, price, low), np.where(used > cap, high, price)
    prices: Floats = np.exp(high)
    return prices


def _period(rate: Floats, weight: Floats, price: Floats) -> Floats:
    """The days between fetches of each page that earn most at its price: the first whose index reaches the price."""
    low, high = np.zeros(len(rate)), np.full(len(rate), float(_LONGEST))
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        is_reached = weight * index(rate, middle) >= price
        low, high = np.where(is_reached, low, middle), np.where(is_reached, middle, high)
    return high


def _frequency(rate: Floats, weight: Floats, price: float) -> Floats:
    """Fetches a day of each page: rate / x, where the continuous index of x = rate * period equals the price."""
    low, high = np.full(len(rate), -40.0), np.full(len(rate), 7.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        x = np.exp(middle)
        is_reached = weight / rate * (-np.expm1(-x) - x * np.exp(-x)) >= price
        low, high = np.where(is_reached, low, middle), np.where(is_reached, middle, high)
    return np.where(weight / rate > price, rate / np.exp(high), 0.0)
