"""Integers: bytes one at a time, arithmetic in numbers without limit."""

QUAD = 2**64 - 1
LONG = 2**32 - 1


def signed(value, bits):
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


def sext(value, bits):
    return signed(value, bits) & QUAD


def lanes(value, bits):
    """The parts of a quadword, lowest first."""
    return [value >> at & (2**bits - 1) for at in range(0, 64, bits)]


def join(parts, bits):
    return sum((part & (2**bits - 1)) << (bits * n) for n, part in enumerate(parts))


class Trap(Exception):
    """An arithmetic trap, with what it leaves in the result: None is UNPREDICTABLE."""

    def __init__(self, names, result):
        self.names, self.result = names, result


# ---- Integer arithmetic, logic, shifts: Rav, Rbv -> Rc


def longword(f):
    return lambda a, b: sext(f(a, b), 32)


def quadword(f):
    return lambda a, b: f(a, b) & QUAD


def overflowing(f, bits):
    """The instruction's /V: traps if the true result of the signed operands doesn't fit."""

    def operate(a, b):
        true = f(signed(a, bits), signed(b, bits))
        if not -(2 ** (bits - 1)) <= true < 2 ** (bits - 1):
            raise Trap(["iov"], sext(true, bits))
        return true & QUAD

    return operate


def s64(value):
    return signed(value, 64)


INT = {
    "and": lambda a, b: a & b,
    "bic": lambda a, b: a & ~b & QUAD,
    "bis": lambda a, b: a | b,
    "ornot": lambda a, b: (a | ~b) & QUAD,
    "xor": lambda a, b: a ^ b,
    "eqv": lambda a, b: (a ^ ~b) & QUAD,
    "sll": lambda a, b: a << (b & 63) & QUAD,
    "srl": lambda a, b: a >> (b & 63),
    "sra": lambda a, b: s64(a) >> (b & 63) & QUAD,
    "cmpeq": lambda a, b: int(a == b),
    "cmplt": lambda a, b: int(s64(a) < s64(b)),
    "cmple": lambda a, b: int(s64(a) <= s64(b)),
    "cmpult": lambda a, b: int(a < b),
    "cmpule": lambda a, b: int(a <= b),
    "umulh": lambda a, b: a * b >> 64,
    "sextb": lambda a, b: sext(b, 8),
    "sextw": lambda a, b: sext(b, 16),
    "ctpop": lambda a, b: bin(b).count("1"),
    "ctlz": lambda a, b: 64 - b.bit_length(),
    "cttz": lambda a, b: 64 if b == 0 else len(bin(b)) - len(bin(b).rstrip("0")),
}
for _name, _f in [
    ("add", lambda a, b: a + b),
    ("sub", lambda a, b: a - b),
    ("mul", lambda a, b: a * b),
]:
    INT[_name + "l"] = longword(_f)
    INT[_name + "q"] = quadword(_f)
    INT[_name + "l/v"] = overflowing(_f, 32)
    INT[_name + "q/v"] = overflowing(_f, 64)
for _scale in [4, 8]:
    for _name, _f in [
        ("add", lambda a, b, scale=_scale: a * scale + b),
        ("sub", lambda a, b, scale=_scale: a * scale - b),
    ]:
        INT[f"s{_scale}{_name}l"] = longword(_f)
        INT[f"s{_scale}{_name}q"] = quadword(_f)

CONDITIONS = {
    "eq": lambda a: s64(a) == 0,
    "ne": lambda a: s64(a) != 0,
    "lt": lambda a: s64(a) < 0,
    "le": lambda a: s64(a) <= 0,
    "gt": lambda a: s64(a) > 0,
    "ge": lambda a: s64(a) >= 0,
    "lbs": lambda a: a & 1 == 1,
    "lbc": lambda a: a & 1 == 0,
}

# ---- Bytes


def byte_operation(kind, size, high):
    """EXT, INS, MSK: the datum's bytes lie at `offset` of two quadwords."""

    def operate(a, b):
        offset = b & 7
        source = lanes(a, 8)
        result = [0] * 8
        if kind == "ext":
            for i in range(size):
                at = offset + i - (8 if high else 0)
                if high and offset == 0:
                    at = i  # shifted by 64 modulo 64
                if 0 <= at < 8:
                    result[i] = source[at]
            return join(result, 8)
        if kind == "msk":
            result = list(source)
        for i in range(size):
            at = offset + i - (8 if high else 0)
            if 0 <= at < 8:
                result[at] = source[i] if kind == "ins" else 0
        return join(result, 8)

    return operate


for _letter, _size in [("b", 1), ("w", 2), ("l", 4), ("q", 8)]:
    for _kind in ["ext", "ins", "msk"]:
        INT[f"{_kind}{_letter}l"] = byte_operation(_kind, _size, False)
        if _size > 1:
            INT[f"{_kind}{_letter}h"] = byte_operation(_kind, _size, True)


def keep(a, names):
    return join([part if names >> n & 1 else 0 for n, part in enumerate(lanes(a, 8))], 8)


INT["zap"] = lambda a, b: keep(a, ~b & 0xFF)
INT["zapnot"] = lambda a, b: keep(a, b & 0xFF)
INT["cmpbge"] = lambda a, b: sum(
    int(x >= y) << n for n, (x, y) in enumerate(zip(lanes(a, 8), lanes(b, 8)))
)

# ---- Motion video

for _letter, _bits, _count in [("b", 8, 8), ("w", 16, 4)]:
    for _sign in ["s", "u"]:
        for _name, _pick in [("min", min), ("max", max)]:

            def _operate(a, b, bits=_bits, sign=_sign, pick=_pick):
                key = (lambda x: signed(x, bits)) if sign == "s" else (lambda x: x)
                return join([pick(p, key=key) for p in zip(lanes(a, bits), lanes(b, bits))], bits)

            INT[f"{_name}{_sign}{_letter}{_count}"] = _operate

INT["perr"] = lambda a, b: sum(abs(x - y) for x, y in zip(lanes(a, 8), lanes(b, 8)))
INT["unpkbw"] = lambda a, b: join(lanes(b, 8)[:4], 16)
INT["unpkbl"] = lambda a, b: join(lanes(b, 8)[:2], 32)
INT["pkwb"] = lambda a, b: join(lanes(b, 16), 8)
INT["pklb"] = lambda a, b: join(lanes(b, 32), 8)
