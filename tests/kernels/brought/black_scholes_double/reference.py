"""Black and Scholes' formula."""

import math

import numpy as np

erfc = np.vectorize(math.erfc, otypes=[np.float64])


def reference(spot, strike, years, rate, volatility, call, **_):
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / deviation
    d2 = d1 - deviation
    sign = 1 if call else -1
    below1, below2 = (erfc(-sign * d / math.sqrt(2)) / 2 for d in (d1, d2))
    return {"price": sign * (spot * below1 - strike * np.exp(-rate * years) * below2)}
