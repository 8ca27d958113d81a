/* What a freestanding Alpha guest needs in place of a C library: the entry point,
   write(2), and the division that the compiler calls for.

   Everything carries call frame information, so that every sample unwinds to
   _start; there the return address is undefined, which ends the stack. */

	.set	noreorder
	.set	noat
	.text

/* The kernel enters with argc at 0($30) and argv after it; $26 holds nothing. */
	.globl	_start
	.type	_start, @function
	.ent	_start
_start:
	.frame	$30, 0, $26
	.cfi_startproc
	.cfi_undefined $26
	br	$27, 1f
1:	ldgp	$29, 0($27)
	.prologue 1
	ldq	$16, 0($30)
	lda	$17, 8($30)
	mov	$31, $15
	jsr	$26, main
	ldgp	$29, 0($26)
	mov	$0, $16
	lda	$0, 1($31)		/* exit */
	callsys
	halt
	.cfi_endproc
	.end	_start
	.size	_start, .-_start

/* long write(int fd, const void *from, unsigned long bytes), -1 for an error. */
	.globl	write
	.type	write, @function
	.ent	write
write:
	.frame	$30, 0, $26
	.cfi_startproc
	.prologue 0
	lda	$0, 4($31)		/* write */
	callsys
	subq	$31, $19, $1
	cmovne	$19, $1, $0
	ret	$31, ($26), 1
	.cfi_endproc
	.end	write
	.size	write, .-write

/* Alpha divides by a call with a convention of its own: dividend $24, divisor $25,
   result $27, return address $23, and only $23, $27 and $28 may change. Here is the
   unsigned remainder, the one that these guests need: the divisor is moved up under
   the dividend's highest bit, and is subtracted where it fits on its way back. */
	.globl	__remqu
	.type	__remqu, @function
	.ent	__remqu
__remqu:
	.frame	$30, 32, $23
	.cfi_startproc
	.cfi_return_column $23
	.prologue 0
	lda	$30, -32($30)
	.cfi_adjust_cfa_offset 32
	stq	$0, 0($30)
	stq	$1, 8($30)
	stq	$2, 16($30)
	beq	$25, by_zero
	cmpule	$25, $24, $28
	mov	$24, $27
	beq	$28, 2f
	ctlz	$24, $0
	ctlz	$25, $1
	subq	$1, $0, $0
	sll	$25, $0, $1
1:	cmpule	$1, $27, $28
	subq	$27, $1, $2
	cmovlbs	$28, $2, $27
	subq	$0, 1, $0
	srl	$1, 1, $1
	bge	$0, 1b
2:	ldq	$0, 0($30)
	ldq	$1, 8($30)
	ldq	$2, 16($30)
	.cfi_remember_state
	lda	$30, 32($30)
	.cfi_adjust_cfa_offset -32
	ret	$31, ($23), 1
	.cfi_restore_state
by_zero:
	lda	$16, -2($31)		/* GEN_INTDIV */
	call_pal 0xaa			/* gentrap */
	halt
	.cfi_endproc
	.end	__remqu
	.size	__remqu, .-__remqu

	.section .note.GNU-stack,"",@progbits
