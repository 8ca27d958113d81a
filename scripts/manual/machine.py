"""Registers and memory, and what each instruction does with them."""

import re

from .floating import Fpu, fp_condition, fp_operate
from .floating import image_of_f, image_of_s, longword_of, swap_quad, swap_words
from .integer import CONDITIONS, INT, LONG, QUAD, Trap, sext

CODE = 0x1000
MEMORY = 0x10000


class Unknown(Exception):
    """An instruction, or an operand, that isn't known here."""


class Stop(Exception):
    """The run ends with an exit."""


REGISTER = re.compile(r"([rf])(\d+)$")
LOADS = {"ldbu": 1, "ldwu": 2, "ldl": 4, "ldq": 8, "ldq_u": 8, "ldl_l": 4, "ldq_l": 8}
LOADS |= {"lds": 4, "ldt": 8, "ldf": 4, "ldg": 8}
STORES = {"stb": 1, "stw": 2, "stl": 4, "stq": 8, "stq_u": 8, "stl_c": 4, "stq_c": 8}
STORES |= {"sts": 4, "stt": 8, "stf": 4, "stg": 8}
NOTHING = ["trapb", "excb", "mb", "wmb", "fetch", "fetch_m", "ecb", "wh64", "wh64en"]


class Machine:
    def __init__(self, given):
        self.registers, self.memory, self.pc = {"fpcr": 2 << 58}, {}, CODE
        self.locked, self.stores = None, []
        for place, number in given:
            self.put(place, number)

    def put(self, place, number):
        match = re.fullmatch(r"m\[(0x[0-9a-f]+|\d+)\]:(\d)", place)
        if match:
            self.store(int(match[1], 0), int(match[2]), number)
        else:
            self.registers[place] = number

    def get(self, name):
        if name in ("r31", "f31"):
            return 0
        if name not in self.registers:
            raise Unknown(f"{name} isn't given")
        return self.registers[name]

    def set(self, name, number):
        if name not in ("r31", "f31"):
            self.registers[name] = number

    def load(self, addr, size):
        return sum(self.memory.get(addr + i, 0) << (8 * i) for i in range(size))

    def store(self, addr, size, number):
        for i in range(size):
            self.memory[addr + i] = number >> (8 * i) & 0xFF

    def check(self, addr, size, access):
        if addr % size:
            raise Stop(f"unaligned {addr:#x}")
        if addr >= MEMORY:
            raise Stop(f"fault {access} {addr:#x}")

    def operand(self, text):
        if REGISTER.match(text):
            return self.get(text)
        number = int(text, 0)
        if not 0 <= number < 256:
            raise Unknown(text)
        return number

    def address(self, text):
        match = re.fullmatch(r"(-?\w+)\((r\d+)\)", text)
        if not match:
            raise Unknown(text)
        return (self.get(match[2]) + int(match[1], 0)) & QUAD

    def target(self, text):
        if not text.startswith("."):
            return int(text, 0)
        return (self.pc + int(text[1:] or "0", 0)) & QUAD

    def step(self, text):
        """Executes an instruction; the pc is the next one's afterwards."""
        name, _, rest = text.strip().partition(" ")
        args = [arg.strip() for arg in rest.split(",")] if rest.strip() else []
        next_pc = self.pc + 4
        plain, _, qualifiers = name.partition("/")
        if name in INT:
            a = self.get(args[0]) if len(args) == 3 else 0
            self.result(args[-1], lambda: INT[name](a, self.operand(args[-2])))
        elif name.startswith("cmov") and name[4:] in CONDITIONS:
            b = self.operand(args[1])
            if CONDITIONS[name[4:]](self.get(args[0])):
                self.set(args[2], b)
        elif name.startswith("b") and name[1:] in CONDITIONS:
            if CONDITIONS[name[1:]](self.get(args[0])):
                next_pc = self.target(args[1])
        elif name.startswith("fb"):
            if fp_condition(name[2:], self.get(args[0])):
                next_pc = self.target(args[1])
        elif name.startswith("fcmov"):
            if fp_condition(name[5:], self.get(args[0])):
                self.set(args[2], self.get(args[1]))
        elif name in ("br", "bsr"):
            self.set(args[0], next_pc)
            next_pc = self.target(args[1])
        elif name in ("jmp", "jsr", "ret", "jcr"):
            link, next_pc = next_pc, self.get(args[1].strip("()")) & ~3
            self.set(args[0], link)
        elif name in ("lda", "ldah"):
            match = re.fullmatch(r"(-?\w+)\((r\d+)\)", args[1])
            scale = 65536 if name == "ldah" else 1
            self.set(args[0], (self.get(match[2]) + int(match[1], 0) * scale) & QUAD)
        elif name in LOADS:
            self.load_to(name, args)
        elif name in STORES:
            self.store_from(name, args)
        elif name in ("ftoit", "ftois"):
            a = self.get(args[0])
            self.set(args[1], a if name == "ftoit" else sext(longword_of(a), 32))
        elif name in ("itoft", "itofs", "itoff"):
            a = self.get(args[0])
            long = a & LONG
            images = {
                "itoft": lambda: a,
                "itofs": lambda: image_of_s(long),
                "itoff": lambda: image_of_f(long >> 31, long >> 23 & 0xFF, long & 0x7FFFFF),
            }
            self.set(args[1], images[name]())
        elif name == "mf_fpcr":
            self.set(args[0], self.get("fpcr"))
        elif name == "mt_fpcr":
            image = self.get(args[0]) & ~(2**47 - 1) & ~(1 << 63)
            self.set("fpcr", image | (image >> 52 & 0x3F != 0) << 63)
        elif name not in NOTHING:
            self.fp(plain, qualifiers, args)
        self.pc = next_pc

    def load_to(self, name, args):
        if not name.endswith("_l") and args[0][1:] == "31":
            return  # a prefetch
        addr, size = self.address(args[1]), LOADS[name]
        if name == "ldq_u":
            addr &= ~7
        self.check(addr, size, "read")
        number = self.load(addr, size)
        shapes = {
            "ldl": lambda n: sext(n, 32),
            "ldl_l": lambda n: sext(n, 32),
            "lds": image_of_s,
            "ldf": lambda n: image_of_f(n >> 15 & 1, n >> 7 & 0xFF, (n & 0x7F) << 16 | n >> 16),
            "ldg": swap_quad,
        }
        if name.endswith("_l"):
            self.locked = addr & ~15
        self.set(args[0], shapes.get(name, lambda n: n)(number))

    def store_from(self, name, args):
        addr, size = self.address(args[1]), STORES[name]
        if name == "stq_u":
            addr &= ~7
        self.check(addr, size, "write")
        number = self.get(args[0])
        if name.endswith("_c"):
            stored = self.locked == addr & ~15
            self.locked = None
            self.set(args[0], int(stored))
            if not stored:
                return
        shapes = {
            "sts": longword_of,
            "stf": lambda n: swap_words(longword_of(n)),
            "stg": swap_quad,
        }
        self.store(addr, size, shapes.get(name, lambda n: n)(number))
        self.stores.append((addr, size))

    def fp(self, name, qualifiers, args):
        if not args or not all(re.fullmatch(r"f\d+", arg) for arg in args):
            raise Unknown(name)
        images = [self.get(arg) for arg in args[:-1]]
        fpu = Fpu(qualifiers, self.get("fpcr"))
        vax = re.search(r"[fgd]$|^cvt.*[gfd]|^cmpg", name)

        def run():
            result = fp_operate(name, fpu, *([0] + images)[-2:])
            if result is None:
                raise Unknown(name)
            return result

        try:
            self.result(args[-1], run)
        finally:
            if not vax:
                self.set("fpcr", fpu.fpcr)

    def result(self, register, operate):
        try:
            self.set(register, operate())
        except Trap as trap:
            self.set(register, trap.result)
            self.pc += 4
            names = trap.names + ([] if register[1:] == "31" else [register])
            raise Stop(f"arith {' '.join(names)}") from None
