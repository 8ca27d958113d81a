/* The C library's divisions on Alpha: arguments in $24 and $25, the result in $27, the return address in
   $23, $28 for the taking; no other register changes, of floating point neither, nor the FPCR.
   Elsewhere, what the host divides. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const int64_t VALUES[] = {
	0, 1, -1, 2, -2, 3, 7, -7, 10, 0x7fffffff, -0x7fffffff - 1, 0x80000000, 0xffffffff,
	INT64_MAX, INT64_MIN, INT64_MIN + 1, 1L << 52, (1L << 53) + 1, (1L << 62) - 1, -(1L << 53),
	0x123456789abcdef, -0x123456789abcdef, 1000000007, 0x5555555555555555,
};

struct operation {
	const char *name;
	int wide, is_signed, remainder;
	void (*millicode)(void);
};

static int64_t expected(const struct operation *o, int64_t a, int64_t b)
{
	uint64_t ua = a, ub = b;

	if (!o->wide && !o->is_signed) {
		ua = (uint32_t)a, ub = (uint32_t)b;
		return (int32_t)(o->remainder ? ua % ub : ua / ub);
	}
	if (!o->is_signed)
		return o->remainder ? ua % ub : ua / ub;
	if (!o->wide)
		a = (int32_t)a, b = (int32_t)b;
	if (b == -1) {
		int64_t quotient = 0 - (uint64_t)a;
		return o->remainder ? 0 : o->wide ? quotient : (int32_t)quotient;
	}
	return o->remainder ? a % b : a / b;
}

#ifdef __alpha__
extern void divl(void) __asm__("__divl"), divlu(void) __asm__("__divlu");
extern void reml(void) __asm__("__reml"), remlu(void) __asm__("__remlu");
extern void divq(void) __asm__("__divq"), divqu(void) __asm__("__divqu");
extern void remq(void) __asm__("__remq"), remqu(void) __asm__("__remqu");
#define CODE(name) name

struct state {
	uint64_t r[32], f[32];
};

/* Calls `code` with all registers but $29 and $30 from `in`, and puts them into `out`. */
void all_registers(const struct state *in, struct state *out, void (*code)(void));
#define EACH(m) \
	m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15) \
	m(17) m(18) m(19) m(20) m(21) m(22) m(24) m(25)
__asm__(
"	.text\n	.globl all_registers\n	.ent all_registers\nall_registers:\n"
"	.frame $30,160,$26\n"
"	lda $30,-160($30)\n"
"	stq $26,0($30)\n	stq $17,8($30)\n"
"	stq $9,16($30)\n	stq $10,24($30)\n	stq $11,32($30)\n	stq $12,40($30)\n"
"	stq $13,48($30)\n	stq $14,56($30)\n	stq $15,64($30)\n	stq $29,72($30)\n"
"	stt $f2,80($30)\n	stt $f3,88($30)\n	stt $f4,96($30)\n	stt $f5,104($30)\n"
"	stt $f6,112($30)\n	stt $f7,120($30)\n	stt $f8,128($30)\n	stt $f9,136($30)\n"
"	mov $18,$27\n"
#define LOAD(n) "	ldq $" #n ",8*" #n "($16)\n"
#define LOADF(n) "	ldt $f" #n ",256+8*" #n "($16)\n"
EACH(LOAD) LOAD(26) LOAD(29)
EACH(LOADF) LOADF(16) LOADF(23) LOADF(26) LOADF(27) LOADF(28) LOADF(29) LOADF(30)
"	ldq $16,8*16($16)\n"
"	jsr $23,($27),0\n"
"	ldq $28,8($30)\n"
#define STORE(n) "	stq $" #n ",8*" #n "($28)\n"
#define STOREF(n) "	stt $f" #n ",256+8*" #n "($28)\n"
EACH(STORE) STORE(16) STORE(26) STORE(27) STORE(29)
EACH(STOREF) STOREF(16) STOREF(23) STOREF(26) STOREF(27) STOREF(28) STOREF(29) STOREF(30)
"	ldq $26,0($30)\n"
"	ldq $9,16($30)\n	ldq $10,24($30)\n	ldq $11,32($30)\n	ldq $12,40($30)\n"
"	ldq $13,48($30)\n	ldq $14,56($30)\n	ldq $15,64($30)\n	ldq $29,72($30)\n"
"	ldt $f2,80($30)\n	ldt $f3,88($30)\n	ldt $f4,96($30)\n	ldt $f5,104($30)\n"
"	ldt $f6,112($30)\n	ldt $f7,120($30)\n	ldt $f8,128($30)\n	ldt $f9,136($30)\n"
"	lda $30,160($30)\n"
"	ret $31,($26),1\n"
"	.end all_registers\n");

/* What `code` gives; says which registers it doesn't keep. */
static int64_t result(const struct operation *o, int64_t a, int64_t b)
{
	struct state in, out;
	double before, after, mode;
	uint64_t bits;
	int i;

	for (i = 0; i < 32; i++)
		in.r[i] = 0x0101010101010101ul * i + 0x8000, in.f[i] = in.r[i] ^ 0x3ff0000000000000;
	in.r[24] = a, in.r[25] = b;
	/* The library's own $29, which the dynamic linker's stub needs. */
	__asm__ volatile("mov $29,%0" : "=r"(in.r[29]));
	memset(&out, 0, sizeof out);
	/* No flag is set, rounding is to minus infinity: neither may change. */
	bits = 0x2400000000000000;
	memcpy(&mode, &bits, 8);
	__asm__ volatile("excb\n\tmf_fpcr %0\n\texcb\n\tmt_fpcr %1\n\texcb" : "=&f"(before) : "f"(mode));
	all_registers(&in, &out, o->millicode);
	__asm__ volatile("excb\n\tmf_fpcr %0\n\texcb\n\tmt_fpcr %1\n\texcb" : "=&f"(after) : "f"(before));
	if (memcmp(&mode, &after, 8))
		printf("%s changes the FPCR\n", o->name);
	for (i = 0; i < 31; i++) {
		if (i != 23 && i != 27 && i != 28 && i != 30 && in.r[i] != out.r[i])
			printf("%s changes $%d\n", o->name, i);
		if (in.f[i] != out.f[i])
			printf("%s changes $f%d\n", o->name, i);
	}
	return out.r[27];
}
#else
#define CODE(name) NULL
#define result expected
#endif

int main(void)
{
	static const struct operation OPERATIONS[] = {
		{ "divl", 0, 1, 0, CODE(divl) }, { "divlu", 0, 0, 0, CODE(divlu) },
		{ "reml", 0, 1, 1, CODE(reml) }, { "remlu", 0, 0, 1, CODE(remlu) },
		{ "divq", 1, 1, 0, CODE(divq) }, { "divqu", 1, 0, 0, CODE(divqu) },
		{ "remq", 1, 1, 1, CODE(remq) }, { "remqu", 1, 0, 1, CODE(remqu) },
	};
	enum { COUNT = sizeof VALUES / sizeof *VALUES };
	int round;
	unsigned o, i, j;

	/* Enough rounds that it is translated. */
	for (round = 0; round < 20; round++)
		for (o = 0; o < sizeof OPERATIONS / sizeof *OPERATIONS; o++)
			for (i = 0; i < COUNT; i++)
				for (j = 0; j < COUNT; j++) {
					const struct operation *op = &OPERATIONS[o];
					int64_t a = VALUES[i], b = VALUES[j];

					if (!op->wide)
						a = (int32_t)a, b = (int32_t)b;
					if (b == 0)
						continue;
					int64_t got = result(op, a, b);
					if (round == 19 || got != expected(op, a, b))
						printf("%s %ld %ld: %ld\n", op->name, a, b, got);
				}
	return 0;
}
