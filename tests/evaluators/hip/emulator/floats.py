"""IEEE-754 arithmetic in exact fractions, rounded once: what a test expects of an instruction."""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Format:
    """exponent, mantissa: bits of each. A Python float holds every value of these exactly."""

    name: str
    exponent: int
    mantissa: int

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    @property
    def sign(self) -> int:
        return 1 << self.bits - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.mantissa

    @property
    def quiet(self) -> int:
        """The bit that tells a quiet NaN from a signalling one."""
        return 1 << self.mantissa - 1

    @property
    def nan(self) -> int:
        return self.infinity | self.quiet

    @property
    def largest(self) -> Fraction:
        return (2 - Fraction(1, 1 << self.mantissa)) * Fraction(2) ** self.bias

    @property
    def least_normal(self) -> Fraction:
        return Fraction(2) ** (1 - self.bias)

    def is_nan(self, bits: int) -> bool:
        return bits & (self.sign - 1) > self.infinity

    def is_signalling(self, bits: int) -> bool:
        return self.is_nan(bits) and not bits & self.quiet

    def is_denormal(self, bits: int) -> bool:
        return 0 < bits & (self.sign - 1) < 1 << self.mantissa

    def decode(self, bits: int) -> float:
        magnitude = bits & (self.sign - 1)
        if magnitude > self.infinity:
            return math.nan
        field, fraction = magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1)
        if magnitude == self.infinity:
            value = math.inf
        elif field:
            exponent = field - self.bias - self.mantissa
            value = math.ldexp(fraction + (1 << self.mantissa), exponent)
        else:
            value = math.ldexp(fraction, 1 - self.bias - self.mantissa)
        return -value if bits & self.sign else value

    def encode(self, value: float | Fraction, mode: str = "even") -> int:
        """The bits of a value, rounded once. mode: even, up, down or zero."""
        if isinstance(value, float):
            if math.isnan(value):
                return self.nan
            sign = self.sign if math.copysign(1, value) < 0 else 0
            if math.isinf(value):
                return sign | self.infinity
        else:
            sign = self.sign if value < 0 else 0
        exact = abs(Fraction(value))
        if not exact:
            return sign
        power = max(_log2(exact), 1 - self.bias)
        scaled = exact / Fraction(2) ** (power - self.mantissa)
        whole = _round(scaled, mode, negative=bool(sign))
        if whole >> self.mantissa + 1:
            power, whole = power + 1, whole >> 1
        if not whole >> self.mantissa:
            return sign | whole
        if power > self.bias:
            toward = {"up": bool(sign), "down": not sign, "zero": True, "even": False}[mode]
            return sign | (self.infinity - 1 if toward else self.infinity)
        return sign | (power + self.bias) << self.mantissa | whole & ((1 << self.mantissa) - 1)


F16 = Format("f16", 5, 10)
BF16 = Format("bf16", 8, 7)
F32 = Format("f32", 8, 23)
F64 = Format("f64", 11, 52)
FORMATS = {one.name: one for one in (F16, BF16, F32, F64)}


def _log2(exact: Fraction) -> int:
    """floor(log2), exactly."""
    power = exact.numerator.bit_length() - exact.denominator.bit_length()
    return power if Fraction(2) ** power <= exact else power - 1


def _round(exact: Fraction, mode: str, *, negative: bool) -> int:
    whole, rest = divmod(exact, 1)
    if mode == "even":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    else:
        up = bool(rest) and mode == ("down" if negative else "up")
    return int(whole) + up


def fma(a: float, b: float, c: float, form: Format, mode: str = "even") -> int:
    """Bits of a * b + c, rounded once."""
    if math.isnan(a) or math.isnan(b) or math.isnan(c):
        return form.nan
    if math.isinf(a) or math.isinf(b):
        if a == 0 or b == 0:
            return form.nan
        product = math.copysign(1, a) * math.copysign(1, b) * math.inf
        return form.encode(product + c)
    if math.isinf(c):
        return form.encode(c)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return form.encode(exact, mode)
    product_negative = math.copysign(1, a) * math.copysign(1, b) < 0
    if (a == 0 or b == 0) and product_negative == (math.copysign(1, c) < 0):
        return form.sign if product_negative else 0
    return form.sign if mode == "down" else 0


def add(a: float, b: float, form: Format, mode: str = "even") -> int:
    return fma(a, 1.0, b, form, mode)


def mul(a: float, b: float, form: Format, mode: str = "even") -> int:
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return form.encode(a * b)
    exact = Fraction(a) * Fraction(b)
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    if not exact:
        return form.sign if negative else 0
    return form.encode(exact, mode)


def divide(a: float, b: float, form: Format) -> int:
    """Bits of a / b, correctly rounded."""
    if math.isnan(a) or math.isnan(b) or (a == 0 and b == 0) or (math.isinf(a) and math.isinf(b)):
        return form.nan
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    sign = form.sign if negative else 0
    if a == 0 or math.isinf(b):
        return sign
    if b == 0 or math.isinf(a):
        return sign | form.infinity
    return form.encode(Fraction(a) / Fraction(b))


def lesser(a: int, b: int, form: Format) -> int:
    """v_min: the guide's text for MODE.IEEE = 1, with -0 below +0."""
    return _extreme(a, b, form, lambda x, y: x < y, zero=form.sign)


def greater(a: int, b: int, form: Format) -> int:
    """v_max: the guide's text for MODE.IEEE = 1, with +0 above -0."""
    return _extreme(a, b, form, lambda x, y: x >= y, zero=0)


def _extreme(a: int, b: int, form: Format, first: Callable[[float, float], bool], zero: int) -> int:
    for one in (a, b):
        if form.is_signalling(one):
            return one | form.quiet
    if form.is_nan(a):
        return b
    if form.is_nan(b):
        return a
    if {a, b} == {0, form.sign}:
        return zero
    return a if first(form.decode(a), form.decode(b)) else b


def median(a: int, b: int, c: int, form: Format) -> int:
    """v_med3: where one is NaN, v_min3."""
    if any(map(form.is_nan, (a, b, c))):
        return lesser(lesser(a, b, form), c, form)
    top = form.decode(greater(greater(a, b, form), c, form))
    if top == form.decode(a):
        return greater(b, c, form)
    return greater(a, c, form) if top == form.decode(b) else greater(a, b, form)


def ulps(found: int, wanted: int, form: Format) -> int:
    """How many representable values apart, -0 and +0 taken for one."""

    def place(bits: int) -> int:
        magnitude = bits & (form.sign - 1)
        return -magnitude if bits & form.sign else magnitude

    return abs(place(found) - place(wanted))


def bits32(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def bits64(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def below_one(form: Format) -> float:
    """The largest value below 1, where v_fract ends."""
    return form.decode((form.bias << form.mantissa) - 1)
