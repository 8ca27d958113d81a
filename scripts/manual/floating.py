"""Floating point: the register images of all formats, arithmetic in fractions."""

import math
import re
from fractions import Fraction

from .integer import QUAD, Trap, join, lanes, sext, signed


# ---- Formats


class Format:
    """Where a format has its fields in a register, and what it can hold."""

    def __init__(self, bits, fraction, bias, least, most, vax):
        # A number is 2^exponent * 1.fraction with `least` <= exponent <= `most`.
        self.exponent_bits, self.fraction, self.bias = bits, fraction, bias
        self.least, self.most, self.vax = least, most, vax
        self.unused = 63 - bits - fraction


# In a register S has T's layout with 29 zeros, and F has G's.
S = Format(11, 23, 1023, -126, 127, False)
T = Format(11, 52, 1023, -1022, 1023, False)
# VAX: 0.1fraction * 2^(field - bias), which is 1.fraction * 2^(field - bias - 1).
F = Format(11, 23, 1025, -128, 126, True)
G = Format(11, 52, 1025, -1024, 1022, True)
D = Format(8, 55, 129, -128, 126, True)


def fields(bits, f):
    sign = bits >> 63
    exponent = bits << 1 >> (64 - f.exponent_bits) & (2**f.exponent_bits - 1)
    if f.exponent_bits == 11:
        exponent, fraction, width = bits >> 52 & 0x7FF, bits & (2**52 - 1), 52
    else:
        exponent, fraction, width = bits >> 55 & 0xFF, bits & (2**55 - 1), 55
    return sign, exponent, fraction, width


def classify(bits, f):
    """zero, number, denormal, inf, qnan, snan; dirty, reserved."""
    sign, exponent, fraction, width = fields(bits, f)
    if f.vax:
        if exponent:
            return "number"
        return "reserved" if sign else ("dirty" if fraction else "zero")
    if exponent == 2047:
        return "inf" if fraction == 0 else ("qnan" if fraction >> (width - 1) else "snan")
    if exponent:
        return "number"
    return "denormal" if fraction else "zero"


def value(bits, f):
    """The number, exactly."""
    sign, exponent, fraction, width = fields(bits, f)
    if exponent == 0:
        if f.vax:
            return Fraction(0)
        number = Fraction(fraction, 2**width)
        exponent = -126 if f is S else -1022
        if f is S:  # an S denormal stands in its register with the exponent field 0
            return (-1) ** sign * number * Fraction(1, 2**126)
    else:
        number = 1 + Fraction(fraction, 2**width)
        exponent -= f.bias
    return (-1) ** sign * number * Fraction(2) ** exponent


def encode(sign, magnitude, f):
    """The register image of a number that the format holds."""
    if magnitude == 0:
        return 0 if f.vax else sign << 63
    exponent = floor_log2(magnitude)
    width = 55 if f is D else 52
    if exponent < f.least:
        fraction = magnitude * Fraction(2) ** -f.least * 2**width
        return sign << 63 | int(fraction)
    fraction = (magnitude / Fraction(2) ** exponent - 1) * 2**width
    assert fraction.denominator == 1
    return sign << 63 | (exponent + f.bias) << width | int(fraction)


def floor_log2(x):
    n = x.numerator.bit_length() - x.denominator.bit_length()
    return n if Fraction(2) ** n <= x else n - 1


def round_to_unit(magnitude, unit, sign, mode, vax):
    """The multiple of `unit` that the rounding mode picks."""
    below = magnitude / unit
    n = below.numerator // below.denominator
    rest = below - n
    if mode == "c" or rest == 0:
        up = False
    elif mode == "m":
        up = bool(sign)
    elif mode == "p":
        up = not sign
    elif vax:
        up = rest >= Fraction(1, 2)
    else:
        up = rest > Fraction(1, 2) or rest == Fraction(1, 2) and n & 1 == 1
    return (n + up) * unit


def square_root(x):
    """A number that rounds as the root does: exact, or with a one far down."""
    shift = 2 * (2000 + max(0, -floor_log2(x)))
    scaled = x * 2**shift
    whole = scaled.numerator // scaled.denominator
    root = math.isqrt(whole)
    exact = root * root == scaled
    return Fraction(root if exact else 2 * root + 1, 2 ** (shift // 2) * (1 if exact else 2))


def image_of_s(s):
    """LDS: the longword in memory to the register."""
    high, exponent = s >> 30 & 1, s >> 23 & 0x7F
    if high:
        wide = 0x7FF if exponent == 0x7F else 0x400 | exponent
    else:
        wide = 0x380 | exponent if exponent else 0
    return (s >> 31 & 1) << 63 | wide << 52 | (s & 0x7FFFFF) << 29


def image_of_f(sign, exponent, fraction):
    """MAP_F, table 2-1."""
    low = exponent & 0x7F
    wide = 0x400 | low if exponent >> 7 else (0x380 | low if low else 0)
    return sign << 63 | wide << 52 | fraction << 29


def longword_of(image):
    """STS, FTOIS, and STF before its words change places."""
    return image >> 62 << 30 | image >> 29 & 0x3FFFFFFF


def swap_words(long):
    return (long & 0xFFFF) << 16 | long >> 16


def swap_quad(quad):
    return join(lanes(quad, 16)[::-1], 16)


# ---- Operations

# INVD serves integer overflow, too.
DISABLES = {"inv": 49, "dze": 50, "ovf": 51, "unf": 61, "ine": 62, "iov": 49}
STATUS = {"inv": 52, "dze": 53, "ovf": 54, "unf": 55, "ine": 56, "iov": 57}
UNDZ = 60
CANONICAL_NAN = 0xFFF8000000000000
TRUE = 0x4000000000000000


class Fpu:
    """One floating-point operation: its qualifiers, the FPCR before and after it."""

    def __init__(self, qualifiers, fpcr):
        self.fpcr = fpcr
        self.software, self.inexact = "s" in qualifiers, "i" in qualifiers
        self.underflow = "u" in qualifiers or "v" in qualifiers
        rounding = [q for q in qualifiers if q in "cmd"]
        self.mode = rounding[0] if rounding else "n"
        if self.mode == "d":
            self.mode = "cmnp"[fpcr >> 58 & 3]

    def status(self, name, vax):
        if not vax:
            self.fpcr |= 1 << STATUS[name] | 1 << 63

    def signal(self, names, enabled, result, trapped, vax):
        """Exceptions: the result if no enabled one traps."""
        traps = []
        for name in names:
            self.status(name, vax)
            disabled = self.software and not vax and self.fpcr >> DISABLES[name] & 1
            if name in enabled and not disabled:
                traps.append(name)
        if traps:
            raise Trap((["swc"] if self.software else []) + traps, trapped)
        return result

    def operands(self, images, f):
        """Checks them; a NaN that is the result, if there is one."""
        kinds = [classify(image, f) for image in images]
        if f.vax:
            if "reserved" in kinds or "dirty" in kinds and not self.software:
                raise Trap((["swc"] if self.software else []) + ["inv"], None)
            return None
        if not self.software and any(k not in ("number", "zero") for k in kinds):
            return self.invalid()
        if "snan" in kinds:
            self.signal(["inv"], ["inv"], None, None, False)
        for image, kind in reversed(list(zip(images, kinds))):  # Fb before Fa
            if kind in ("qnan", "snan"):
                return image | 1 << 51
        return None

    def invalid(self):
        return self.signal(["inv"], ["inv"], CANONICAL_NAN, None, False)

    def round(self, sign, magnitude, f, sticky_zero_sign=None):
        """A true result into the format."""
        if magnitude == 0:
            return 0 if f.vax else (sticky_zero_sign or 0) << 63
        exponent = floor_log2(magnitude)
        unit = Fraction(2) ** (exponent - f.fraction)
        rounded = round_to_unit(magnitude, unit, sign, self.mode, f.vax)
        if rounded >= Fraction(2) ** (f.most + 1):
            if f.vax:
                raise Trap((["swc"] if self.software else []) + ["ovf"], None)
            up = self.mode == "n" or self.mode == ("m" if sign else "p")
            largest = (2 - Fraction(1, 2**f.fraction)) * Fraction(2) ** f.most
            result = sign << 63 | 0x7FF << 52 if up else encode(sign, largest, f)
            enabled = ["ovf", "ine"] if self.inexact else ["ovf"]
            return self.signal(["ovf", "ine"], enabled, result, None, False)
        if rounded < Fraction(2) ** f.least:
            if f.vax:
                names = (["swc"] if self.software else []) + ["unf"]
                if self.underflow:
                    raise Trap(names, 0)
                return 0
            # To the next denormal; /S asks for it, else it is a true zero.
            unit = Fraction(2) ** (f.least - f.fraction)
            gradual = round_to_unit(magnitude, unit, sign, self.mode, False)
            result = encode(sign, gradual, f)
            if not self.software or self.fpcr >> UNDZ & 1:
                result = 0
            exact = gradual == magnitude and self.software
            names = [] if exact and self.fpcr >> DISABLES["unf"] & 1 else ["unf"]
            names += [] if exact else ["ine"]
            enabled = (["unf"] if self.underflow else []) + (["ine"] if self.inexact else [])
            return self.signal(names, enabled, result, 0, False)
        result = encode(sign, rounded, f)
        if rounded != magnitude and not f.vax:
            return self.signal(["ine"], ["ine"] if self.inexact else [], result, result, False)
        return result

    def arithmetic(self, name, f, a, b):
        images = [b] if name == "sqrt" else [a, b]
        nan = self.operands(images, f)
        if nan is not None:
            return nan
        kinds = [classify(image, f) for image in images]
        signs = [image >> 63 for image in images]
        if "inf" in kinds:
            return self.infinite(name, images, kinds, signs)
        numbers = [value(image, f) for image in images]
        if name == "sqrt":
            if numbers[0] < 0:
                if f.vax:
                    raise Trap((["swc"] if self.software else []) + ["inv"], None)
                return self.invalid()
            if numbers[0] == 0:
                return 0 if f.vax else images[0]
            return self.round(0, square_root(numbers[0]), f)
        x, y = numbers
        if name in ("add", "sub"):
            true = x + y if name == "add" else x - y
            other = signs[1] ^ (name == "sub")
            zero_sign = signs[0] if signs[0] == other else int(self.mode == "m")
            if x == 0 and y == 0 and signs[0] != other:
                zero_sign = int(self.mode == "m")
            return self.round(int(true < 0), abs(true), f, zero_sign)
        sign = signs[0] ^ signs[1]
        if name == "mul":
            return self.round(sign, abs(x * y), f, sign)
        if y == 0:
            if f.vax:
                raise Trap((["swc"] if self.software else []) + ["dze"], None)
            if x == 0:
                return self.invalid()
            return self.signal(["dze"], ["dze"], sign << 63 | 0x7FF << 52, None, False)
        return self.round(sign, abs(x / y), f, sign)

    def infinite(self, name, images, kinds, signs):
        infinity = 0x7FF << 52
        if name == "sqrt":
            return self.invalid() if signs[0] else images[0]
        if name in ("add", "sub"):
            other = signs[1] ^ (name == "sub")
            if kinds == ["inf", "inf"]:
                return images[0] if signs[0] == other else self.invalid()
            return images[0] if kinds[0] == "inf" else other << 63 | infinity
        sign = (signs[0] ^ signs[1]) << 63
        if name == "mul":
            return self.invalid() if "zero" in kinds else sign | infinity
        if kinds == ["inf", "inf"]:
            return self.invalid()
        return sign | infinity if kinds[0] == "inf" else sign

    def compare(self, relation, f, a, b):
        kinds = [classify(image, f) for image in (a, b)]
        if f.vax:
            self.operands([a, b], f)
        elif not self.software and any(k in ("denormal", "qnan", "snan") for k in kinds):
            return self.invalid()
        unordered = any(k in ("qnan", "snan") for k in kinds)
        if unordered:
            if "snan" in kinds or relation in ("lt", "le"):
                self.signal(["inv"], ["inv"], None, None, False)
            return TRUE if relation == "un" else 0
        if relation == "un":
            return 0
        order = [
            (math.inf if image >> 63 == 0 else -math.inf) if kind == "inf" else value(image, f)
            for image, kind in zip((a, b), kinds)
        ]
        x, y = order
        return TRUE if {"eq": x == y, "lt": x < y, "le": x <= y}[relation] else 0

    def to_quad(self, f, b):
        if f.vax:
            self.operands([b], f)
        else:
            kind = classify(b, f)
            if not self.software and kind not in ("number", "zero"):
                return self.invalid()
            if kind in ("inf", "qnan", "snan"):
                return self.signal(["inv"], ["inv"], 0, None, False)
        number = value(b, f)
        sign = int(number < 0)
        whole = round_to_unit(abs(number), Fraction(1), sign, self.mode, f.vax)
        true = -int(whole) if sign else int(whole)
        names = [] if -(2**63) <= true < 2**63 else ["iov"]
        if f.vax:
            if names and self.underflow:
                raise Trap((["swc"] if self.software else []) + ["iov"], true & QUAD)
            return true & QUAD
        if whole != abs(number) or names:
            names.append("ine")
        enabled = (["iov"] if self.underflow else []) + (["ine"] if self.inexact else [])
        return self.signal(names, enabled, true & QUAD, true & QUAD, False)

    def from_quad(self, f, b):
        number = signed(b, 64)
        return self.round(int(number < 0), Fraction(abs(number)), f)

    def convert(self, source, target, b):
        """Between formats of one kind."""
        if source.vax:
            self.operands([b], source)
            number = value(b, source)
            return self.round(int(number < 0), abs(number), target)
        nan = self.operands([b], source)
        kind = classify(b, source)
        if nan is not None:
            return nan & ~0x1FFFFFFF & QUAD if target is S else nan
        if kind in ("inf", "zero"):
            return b
        number = value(b, source)
        return self.round(int(number < 0), abs(number), target)

    def to_long(self, b):
        result = (b >> 30 & 3) << 62 | (b & 0x3FFFFFFF) << 29
        if -(2**31) <= signed(b, 64) < 2**31:
            return result
        return self.signal(["iov"], ["iov"] if self.underflow else [], result, result, False)


FORMATS = {"s": S, "t": T, "f": F, "g": G, "d": D}


def fp_operate(name, fpu, a, b):
    """The result of a floating-point operate instruction; None if it isn't known."""
    match = re.fullmatch(r"(add|sub|mul|div|sqrt)([stfg])", name)
    if match:
        return fpu.arithmetic(match[1], FORMATS[match[2]], a, b)
    match = re.fullmatch(r"cmp([tg])(eq|lt|le|un)", name)
    if match:
        return fpu.compare(match[2], FORMATS[match[1]], a, b)
    match = re.fullmatch(r"cvt([tg])q", name)
    if match:
        return fpu.to_quad(FORMATS[match[1]], b)
    match = re.fullmatch(r"cvtq([stfg])", name)
    if match:
        return fpu.from_quad(FORMATS[match[1]], b)
    match = re.fullmatch(r"cvt(ts|st|dg|gd|gf)", name)
    if match:
        return fpu.convert(FORMATS[match[1][0]], FORMATS[match[1][1]], b)
    sign, low = 1 << 63, 2**63 - 1
    return {
        "cpys": lambda: a & sign | b & low,
        "cpysn": lambda: (a & sign ^ sign) | b & low,
        "cpyse": lambda: a & 0xFFF << 52 | b & (2**52 - 1),
        "cvtlq": lambda: sext((b >> 62) << 30 | b >> 29 & 0x3FFFFFFF, 32),
        "cvtql": lambda: fpu.to_long(b),
    }.get(name, lambda: None)()


def fp_condition(name, a):
    """FB and FCMOV look at the sign and at zero, both zeros alike."""
    negative, zero = a >> 63 == 1, a << 1 & QUAD == 0
    return {
        "eq": zero,
        "ne": not zero,
        "lt": negative and not zero,
        "le": negative or zero,
        "gt": not negative and not zero,
        "ge": not negative or zero,
    }[name]
