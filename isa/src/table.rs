//! The instructions: one row each, all else derived.

/// Calls `$m!` with one row per instruction.
///
/// A row is `name = Form(opcode, function…) Shape module { EXTENSION, FLAG… };`:
/// the [form](crate::format::Form) lays out the word; the [shape](crate::Shape) says what the body
/// reads and gives ([`exec`](crate::exec())); `module` is the part of [`sem`](crate::sem) that holds
/// the body, a function of the row's name; the [extension](crate::Extension) came with some CPU;
/// [flags](crate::Flags) say what the shape doesn't. A name that ends in `_v` is spelled `/v`.
///
/// The last two strings of a floating-point form are the trap and rounding qualifiers that exist
/// beside the plain function. Source: Alpha Architecture Reference Manual, appendix C.
#[macro_export]
macro_rules! for_each_insn {
    ($m:ident) => {
        $m! {
            // ---- PALcode and its reserved opcodes
            /// Call privileged architecture library: traps to PALcode with a 26-bit function.
            call_pal = Pal(0x00) Pal pal { BASE, PAL };
            /// Reserved to PALcode: opcode 19.
            pal19 = Pal(0x19) Stop pal { BASE, PAL, RESERVED };
            /// Reserved to PALcode: opcode 1b.
            pal1b = Pal(0x1b) Stop pal { BASE, PAL, RESERVED };
            /// Reserved to PALcode: opcode 1d.
            pal1d = Pal(0x1d) Stop pal { BASE, PAL, RESERVED };
            /// Reserved to PALcode: opcode 1e.
            pal1e = Pal(0x1e) Stop pal { BASE, PAL, RESERVED };
            /// Reserved to PALcode: opcode 1f.
            pal1f = Pal(0x1f) Stop pal { BASE, PAL, RESERVED };

            // ---- Memory
            /// Load address: Ra <- Rbv + SEXT(disp).
            lda = Mem(0x08) Lda mem { BASE };
            /// Load address high: Ra <- Rbv + SEXT(disp * 65536).
            ldah = Mem(0x09) Lda mem { BASE };
            /// Load zero-extended byte.
            ldbu = Mem(0x0a) Load mem { BWX };
            /// Load unaligned quadword: the aligned quadword that holds the address.
            ldq_u = Mem(0x0b) Load mem { BASE };
            /// Load zero-extended word.
            ldwu = Mem(0x0c) Load mem { BWX };
            /// Store word.
            stw = Mem(0x0d) Store mem { BWX };
            /// Store byte.
            stb = Mem(0x0e) Store mem { BWX };
            /// Store unaligned quadword: the aligned quadword that holds the address.
            stq_u = Mem(0x0f) Store mem { BASE };
            /// Load F_floating.
            ldf = FMem(0x20) FLoad vax { BASE, VAX };
            /// Load G_floating.
            ldg = FMem(0x21) FLoad vax { BASE, VAX };
            /// Load S_floating.
            lds = FMem(0x22) FLoad mem { BASE };
            /// Load T_floating.
            ldt = FMem(0x23) FLoad mem { BASE };
            /// Store F_floating.
            stf = FMem(0x24) FStore vax { BASE, VAX };
            /// Store G_floating.
            stg = FMem(0x25) FStore vax { BASE, VAX };
            /// Store S_floating.
            sts = FMem(0x26) FStore mem { BASE };
            /// Store T_floating.
            stt = FMem(0x27) FStore mem { BASE };
            /// Load sign-extended longword.
            ldl = Mem(0x28) Load mem { BASE };
            /// Load quadword.
            ldq = Mem(0x29) Load mem { BASE };
            /// Load sign-extended longword, locked.
            ldl_l = Mem(0x2a) LoadL mem { BASE };
            /// Load quadword, locked.
            ldq_l = Mem(0x2b) LoadL mem { BASE };
            /// Store longword.
            stl = Mem(0x2c) Store mem { BASE };
            /// Store quadword.
            stq = Mem(0x2d) Store mem { BASE };
            /// Store longword, conditional: Ra <- whether it was stored.
            stl_c = Mem(0x2e) StoreC mem { BASE };
            /// Store quadword, conditional: Ra <- whether it was stored.
            stq_c = Mem(0x2f) StoreC mem { BASE };

            // ---- Branches and jumps
            /// Branch: Ra <- PC of the next instruction.
            br = Bra(0x30) Br branch { BASE };
            /// Branch if Fa is zero.
            fbeq = FBra(0x31) FBranch branch { BASE };
            /// Branch if Fa is less than zero.
            fblt = FBra(0x32) FBranch branch { BASE };
            /// Branch if Fa is less than or equal to zero.
            fble = FBra(0x33) FBranch branch { BASE };
            /// Branch to subroutine: Ra <- PC of the next instruction.
            bsr = Bra(0x34) Br branch { BASE, CALL };
            /// Branch if Fa is not zero.
            fbne = FBra(0x35) FBranch branch { BASE };
            /// Branch if Fa is greater than or equal to zero.
            fbge = FBra(0x36) FBranch branch { BASE };
            /// Branch if Fa is greater than zero.
            fbgt = FBra(0x37) FBranch branch { BASE };
            /// Branch if the low bit of Ra is clear.
            blbc = Bra(0x38) Branch branch { BASE };
            /// Branch if Ra is zero.
            beq = Bra(0x39) Branch branch { BASE };
            /// Branch if Ra is less than zero.
            blt = Bra(0x3a) Branch branch { BASE };
            /// Branch if Ra is less than or equal to zero.
            ble = Bra(0x3b) Branch branch { BASE };
            /// Branch if the low bit of Ra is set.
            blbs = Bra(0x3c) Branch branch { BASE };
            /// Branch if Ra is not zero.
            bne = Bra(0x3d) Branch branch { BASE };
            /// Branch if Ra is greater than or equal to zero.
            bge = Bra(0x3e) Branch branch { BASE };
            /// Branch if Ra is greater than zero.
            bgt = Bra(0x3f) Branch branch { BASE };
            /// Jump.
            jmp = Jmp(0x1a, 0) Jump branch { BASE };
            /// Jump to subroutine.
            jsr = Jmp(0x1a, 1) Jump branch { BASE, CALL };
            /// Return from subroutine.
            ret = Jmp(0x1a, 2) Jump branch { BASE, RETURN };
            /// Jump to subroutine return: a coroutine switch.
            jsr_coroutine = Jmp(0x1a, 3) Jump branch { BASE, CALL, RETURN };

            // ---- Integer arithmetic
            /// Add longword: Rc <- SEXT((Rav + Rbv)<31:0>).
            addl = Opr(0x10, 0x00) Int int { BASE };
            /// Scaled add longword by 4: Rc <- SEXT((Rav * 4 + Rbv)<31:0>).
            s4addl = Opr(0x10, 0x02) Int int { BASE };
            /// Subtract longword: Rc <- SEXT((Rav - Rbv)<31:0>).
            subl = Opr(0x10, 0x09) Int int { BASE };
            /// Scaled subtract longword by 4: Rc <- SEXT((Rav * 4 - Rbv)<31:0>).
            s4subl = Opr(0x10, 0x0b) Int int { BASE };
            /// Compare bytes: bit i of Rc <- whether byte i of Rav is at least byte i of Rbv, unsigned.
            cmpbge = Opr(0x10, 0x0f) Int byte { BASE };
            /// Scaled add longword by 8: Rc <- SEXT((Rav * 8 + Rbv)<31:0>).
            s8addl = Opr(0x10, 0x12) Int int { BASE };
            /// Scaled subtract longword by 8: Rc <- SEXT((Rav * 8 - Rbv)<31:0>).
            s8subl = Opr(0x10, 0x1b) Int int { BASE };
            /// Compare unsigned quadword less than.
            cmpult = Opr(0x10, 0x1d) Int int { BASE };
            /// Add quadword.
            addq = Opr(0x10, 0x20) Int int { BASE };
            /// Scaled add quadword by 4.
            s4addq = Opr(0x10, 0x22) Int int { BASE };
            /// Subtract quadword.
            subq = Opr(0x10, 0x29) Int int { BASE };
            /// Scaled subtract quadword by 4.
            s4subq = Opr(0x10, 0x2b) Int int { BASE };
            /// Compare quadword equal.
            cmpeq = Opr(0x10, 0x2d) Int int { BASE };
            /// Scaled add quadword by 8.
            s8addq = Opr(0x10, 0x32) Int int { BASE };
            /// Scaled subtract quadword by 8.
            s8subq = Opr(0x10, 0x3b) Int int { BASE };
            /// Compare unsigned quadword less than or equal.
            cmpule = Opr(0x10, 0x3d) Int int { BASE };
            /// Add longword, trapping on overflow.
            addl_v = Opr(0x10, 0x40) IntV int { BASE };
            /// Subtract longword, trapping on overflow.
            subl_v = Opr(0x10, 0x49) IntV int { BASE };
            /// Compare signed quadword less than.
            cmplt = Opr(0x10, 0x4d) Int int { BASE };
            /// Add quadword, trapping on overflow.
            addq_v = Opr(0x10, 0x60) IntV int { BASE };
            /// Subtract quadword, trapping on overflow.
            subq_v = Opr(0x10, 0x69) IntV int { BASE };
            /// Compare signed quadword less than or equal.
            cmple = Opr(0x10, 0x6d) Int int { BASE };
            /// Multiply longword.
            mull = Opr(0x13, 0x00) Int int { BASE };
            /// Multiply quadword.
            mulq = Opr(0x13, 0x20) Int int { BASE };
            /// Unsigned multiply quadword high.
            umulh = Opr(0x13, 0x30) Int int { BASE };
            /// Multiply longword, trapping on overflow.
            mull_v = Opr(0x13, 0x40) IntV int { BASE };
            /// Multiply quadword, trapping on overflow.
            mulq_v = Opr(0x13, 0x60) IntV int { BASE };

            // ---- Logic and conditional moves
            /// Logical product.
            and = Opr(0x11, 0x00) Int int { BASE };
            /// Logical product with complement (bit clear).
            bic = Opr(0x11, 0x08) Int int { BASE };
            /// Move if the low bit of Ra is set.
            cmovlbs = Opr(0x11, 0x14) Cmov int { BASE };
            /// Move if the low bit of Ra is clear.
            cmovlbc = Opr(0x11, 0x16) Cmov int { BASE };
            /// Logical sum (bit set).
            bis = Opr(0x11, 0x20) Int int { BASE };
            /// Move if Ra is zero.
            cmoveq = Opr(0x11, 0x24) Cmov int { BASE };
            /// Move if Ra is not zero.
            cmovne = Opr(0x11, 0x26) Cmov int { BASE };
            /// Logical sum with complement.
            ornot = Opr(0x11, 0x28) Int int { BASE };
            /// Logical difference.
            xor = Opr(0x11, 0x40) Int int { BASE };
            /// Move if Ra is less than zero.
            cmovlt = Opr(0x11, 0x44) Cmov int { BASE };
            /// Move if Ra is greater than or equal to zero.
            cmovge = Opr(0x11, 0x46) Cmov int { BASE };
            /// Logical equivalence: Rc <- Rav XOR NOT Rbv.
            eqv = Opr(0x11, 0x48) Int int { BASE };
            /// Architecture mask: clears the bits of Rbv that name features this CPU has.
            amask = OprB(0x11, 0x61) Int pal { BASE };
            /// Move if Ra is less than or equal to zero.
            cmovle = Opr(0x11, 0x64) Cmov int { BASE };
            /// Move if Ra is greater than zero.
            cmovgt = Opr(0x11, 0x66) Cmov int { BASE };
            /// Implementation version: the major implementation of this CPU.
            implver = OprC(0x11, 0x6c) Int pal { BASE };

            // ---- Shifts and byte manipulation
            /// Mask byte low.
            mskbl = Opr(0x12, 0x02) Int byte { BASE };
            /// Extract byte low.
            extbl = Opr(0x12, 0x06) Int byte { BASE };
            /// Insert byte low.
            insbl = Opr(0x12, 0x0b) Int byte { BASE };
            /// Mask word low.
            mskwl = Opr(0x12, 0x12) Int byte { BASE };
            /// Extract word low.
            extwl = Opr(0x12, 0x16) Int byte { BASE };
            /// Insert word low.
            inswl = Opr(0x12, 0x1b) Int byte { BASE };
            /// Mask longword low.
            mskll = Opr(0x12, 0x22) Int byte { BASE };
            /// Extract longword low.
            extll = Opr(0x12, 0x26) Int byte { BASE };
            /// Insert longword low.
            insll = Opr(0x12, 0x2b) Int byte { BASE };
            /// Zero the bytes that Rbv<7:0> names.
            zap = Opr(0x12, 0x30) Int byte { BASE };
            /// Zero the bytes that Rbv<7:0> does not name.
            zapnot = Opr(0x12, 0x31) Int byte { BASE };
            /// Mask quadword low.
            mskql = Opr(0x12, 0x32) Int byte { BASE };
            /// Shift right logical.
            srl = Opr(0x12, 0x34) Int int { BASE };
            /// Extract quadword low.
            extql = Opr(0x12, 0x36) Int byte { BASE };
            /// Shift left logical.
            sll = Opr(0x12, 0x39) Int int { BASE };
            /// Insert quadword low.
            insql = Opr(0x12, 0x3b) Int byte { BASE };
            /// Shift right arithmetic.
            sra = Opr(0x12, 0x3c) Int int { BASE };
            /// Mask word high.
            mskwh = Opr(0x12, 0x52) Int byte { BASE };
            /// Insert word high.
            inswh = Opr(0x12, 0x57) Int byte { BASE };
            /// Extract word high.
            extwh = Opr(0x12, 0x5a) Int byte { BASE };
            /// Mask longword high.
            msklh = Opr(0x12, 0x62) Int byte { BASE };
            /// Insert longword high.
            inslh = Opr(0x12, 0x67) Int byte { BASE };
            /// Extract longword high.
            extlh = Opr(0x12, 0x6a) Int byte { BASE };
            /// Mask quadword high.
            mskqh = Opr(0x12, 0x72) Int byte { BASE };
            /// Insert quadword high.
            insqh = Opr(0x12, 0x77) Int byte { BASE };
            /// Extract quadword high.
            extqh = Opr(0x12, 0x7a) Int byte { BASE };
            /// Sign extend byte.
            sextb = OprB(0x1c, 0x00) Int int { BWX };
            /// Sign extend word.
            sextw = OprB(0x1c, 0x01) Int int { BWX };

            // ---- Counts (CIX) and motion video (MVI)
            /// Count population: the ones of Rbv.
            ctpop = Opr2(0x1c, 0x30) Int int { CIX };
            /// Pixel error: the sum of the absolute differences of bytes.
            perr = Opr3(0x1c, 0x31) Int mvi { MVI };
            /// Count leading zeros.
            ctlz = Opr2(0x1c, 0x32) Int int { CIX };
            /// Count trailing zeros.
            cttz = Opr2(0x1c, 0x33) Int int { CIX };
            /// Unpack bytes to words.
            unpkbw = Opr2(0x1c, 0x34) Int mvi { MVI };
            /// Unpack bytes to longwords.
            unpkbl = Opr2(0x1c, 0x35) Int mvi { MVI };
            /// Pack words to bytes.
            pkwb = Opr2(0x1c, 0x36) Int mvi { MVI };
            /// Pack longwords to bytes.
            pklb = Opr2(0x1c, 0x37) Int mvi { MVI };
            /// Minimum of signed bytes.
            minsb8 = Opr(0x1c, 0x38) Int mvi { MVI };
            /// Minimum of signed words.
            minsw4 = Opr(0x1c, 0x39) Int mvi { MVI };
            /// Minimum of unsigned bytes.
            minub8 = Opr(0x1c, 0x3a) Int mvi { MVI };
            /// Minimum of unsigned words.
            minuw4 = Opr(0x1c, 0x3b) Int mvi { MVI };
            /// Maximum of unsigned bytes.
            maxub8 = Opr(0x1c, 0x3c) Int mvi { MVI };
            /// Maximum of unsigned words.
            maxuw4 = Opr(0x1c, 0x3d) Int mvi { MVI };
            /// Maximum of signed bytes.
            maxsb8 = Opr(0x1c, 0x3e) Int mvi { MVI };
            /// Maximum of signed words.
            maxsw4 = Opr(0x1c, 0x3f) Int mvi { MVI };

            // ---- Moves between register files (FIX)
            /// Floating-point register to integer register, as T_floating.
            ftoit = FToI(0x1c, 0x70) FToI fp { FIX };
            /// Floating-point register to integer register, as S_floating in memory.
            ftois = FToI(0x1c, 0x78) FToI fp { FIX };
            /// Integer register to floating-point register, as S_floating in memory.
            itofs = IToF(0x14, 0x004) IToF fp { FIX };
            /// Integer register to floating-point register, as F_floating in memory.
            itoff = IToF(0x14, 0x014) IToF vax { FIX, VAX };
            /// Integer register to floating-point register, as T_floating.
            itoft = IToF(0x14, 0x024) IToF fp { FIX };

            // ---- IEEE floating point
            /// Add S_floating.
            adds = Fp(0x16, 0x080, "u su sui", "c m d") Fp2 fp { BASE, TRAPS };
            /// Subtract S_floating.
            subs = Fp(0x16, 0x081, "u su sui", "c m d") Fp2 fp { BASE, TRAPS };
            /// Multiply S_floating.
            muls = Fp(0x16, 0x082, "u su sui", "c m d") Fp2 fp { BASE, TRAPS };
            /// Divide S_floating.
            divs = Fp(0x16, 0x083, "u su sui", "c m d") Fp2 fp { BASE, TRAPS };
            /// Add T_floating.
            addt = Fp(0x16, 0x0a0, "u su sui", "c m d") Fp2 fp { BASE, TRAPS };
            /// Subtract T_floating.
            subt = Fp(0x16, 0x0a1, "u su sui", "c m d") Fp2 fp { BASE, TRAPS };
            /// Multiply T_floating.
            mult = Fp(0x16, 0x0a2, "u su sui", "c m d") Fp2 fp { BASE, TRAPS };
            /// Divide T_floating.
            divt = Fp(0x16, 0x0a3, "u su sui", "c m d") Fp2 fp { BASE, TRAPS };
            /// Compare T_floating unordered.
            cmptun = Fp(0x16, 0x0a4, "su", "") Fp2 fp { BASE, TRAPS };
            /// Compare T_floating equal.
            cmpteq = Fp(0x16, 0x0a5, "su", "") Fp2 fp { BASE, TRAPS };
            /// Compare T_floating less than.
            cmptlt = Fp(0x16, 0x0a6, "su", "") Fp2 fp { BASE, TRAPS };
            /// Compare T_floating less than or equal.
            cmptle = Fp(0x16, 0x0a7, "su", "") Fp2 fp { BASE, TRAPS };
            /// Convert T_floating to S_floating.
            cvtts = FpB(0x16, 0x0ac, "u su sui", "c m d") Fp1 fp { BASE, TRAPS };
            /// Convert S_floating to T_floating.
            cvtst = FpB(0x16, 0x2ac, "s", "") Fp1 fp { BASE, TRAPS };
            /// Convert T_floating to quadword.
            cvttq = FpB(0x16, 0x0af, "v sv svi", "c m d") Fp1 fp { BASE, TRAPS };
            /// Convert quadword to S_floating.
            cvtqs = FpB(0x16, 0x0bc, "sui", "c m d") Fp1 fp { BASE, TRAPS };
            /// Convert quadword to T_floating.
            cvtqt = FpB(0x16, 0x0be, "sui", "c m d") Fp1 fp { BASE, TRAPS };
            /// Square root of S_floating.
            sqrts = FpB(0x14, 0x08b, "u su sui", "c m d") Fp1 fp { FIX, TRAPS };
            /// Square root of T_floating.
            sqrtt = FpB(0x14, 0x0ab, "u su sui", "c m d") Fp1 fp { FIX, TRAPS };

            // ---- Floating point of either kind
            /// Convert longword to quadword.
            cvtlq = FpB(0x17, 0x010, "", "") Fp1 fp { BASE };
            /// Copy sign.
            cpys = Fp(0x17, 0x020, "", "") Fp2 fp { BASE };
            /// Copy sign negated.
            cpysn = Fp(0x17, 0x021, "", "") Fp2 fp { BASE };
            /// Copy sign and exponent.
            cpyse = Fp(0x17, 0x022, "", "") Fp2 fp { BASE };
            /// Move to FPCR.
            mt_fpcr = Fpcr(0x17, 0x024) MtFpcr fp { BASE };
            /// Move from FPCR.
            mf_fpcr = Fpcr(0x17, 0x025) MfFpcr fp { BASE };
            /// Move if Fa is zero.
            fcmoveq = Fp(0x17, 0x02a, "", "") FCmov fp { BASE };
            /// Move if Fa is not zero.
            fcmovne = Fp(0x17, 0x02b, "", "") FCmov fp { BASE };
            /// Move if Fa is less than zero.
            fcmovlt = Fp(0x17, 0x02c, "", "") FCmov fp { BASE };
            /// Move if Fa is greater than or equal to zero.
            fcmovge = Fp(0x17, 0x02d, "", "") FCmov fp { BASE };
            /// Move if Fa is less than or equal to zero.
            fcmovle = Fp(0x17, 0x02e, "", "") FCmov fp { BASE };
            /// Move if Fa is greater than zero.
            fcmovgt = Fp(0x17, 0x02f, "", "") FCmov fp { BASE };
            /// Convert quadword to longword.
            cvtql = FpB(0x17, 0x030, "v sv", "") Fp1 fp { BASE, TRAPS };

            // ---- VAX floating point
            /// Add F_floating.
            addf = Fp(0x15, 0x080, "u s su", "c") Fp2 vax { BASE, VAX, TRAPS };
            /// Subtract F_floating.
            subf = Fp(0x15, 0x081, "u s su", "c") Fp2 vax { BASE, VAX, TRAPS };
            /// Multiply F_floating.
            mulf = Fp(0x15, 0x082, "u s su", "c") Fp2 vax { BASE, VAX, TRAPS };
            /// Divide F_floating.
            divf = Fp(0x15, 0x083, "u s su", "c") Fp2 vax { BASE, VAX, TRAPS };
            /// Add G_floating.
            addg = Fp(0x15, 0x0a0, "u s su", "c") Fp2 vax { BASE, VAX, TRAPS };
            /// Subtract G_floating.
            subg = Fp(0x15, 0x0a1, "u s su", "c") Fp2 vax { BASE, VAX, TRAPS };
            /// Multiply G_floating.
            mulg = Fp(0x15, 0x0a2, "u s su", "c") Fp2 vax { BASE, VAX, TRAPS };
            /// Divide G_floating.
            divg = Fp(0x15, 0x0a3, "u s su", "c") Fp2 vax { BASE, VAX, TRAPS };
            /// Compare G_floating equal.
            cmpgeq = Fp(0x15, 0x0a5, "s", "") Fp2 vax { BASE, VAX, TRAPS };
            /// Compare G_floating less than.
            cmpglt = Fp(0x15, 0x0a6, "s", "") Fp2 vax { BASE, VAX, TRAPS };
            /// Compare G_floating less than or equal.
            cmpgle = Fp(0x15, 0x0a7, "s", "") Fp2 vax { BASE, VAX, TRAPS };
            /// Convert D_floating to G_floating.
            cvtdg = FpB(0x15, 0x09e, "u s su", "c") Fp1 vax { BASE, VAX, TRAPS };
            /// Convert G_floating to F_floating.
            cvtgf = FpB(0x15, 0x0ac, "u s su", "c") Fp1 vax { BASE, VAX, TRAPS };
            /// Convert G_floating to D_floating.
            cvtgd = FpB(0x15, 0x0ad, "u s su", "c") Fp1 vax { BASE, VAX, TRAPS };
            /// Convert G_floating to quadword.
            cvtgq = FpB(0x15, 0x0af, "v s sv", "c") Fp1 vax { BASE, VAX, TRAPS };
            /// Convert quadword to F_floating.
            cvtqf = FpB(0x15, 0x0bc, "", "c") Fp1 vax { BASE, VAX };
            /// Convert quadword to G_floating.
            cvtqg = FpB(0x15, 0x0be, "", "c") Fp1 vax { BASE, VAX };
            /// Square root of F_floating.
            sqrtf = FpB(0x14, 0x08a, "u s su", "c") Fp1 vax { FIX, VAX, TRAPS };
            /// Square root of G_floating.
            sqrtg = FpB(0x14, 0x0aa, "u s su", "c") Fp1 vax { FIX, VAX, TRAPS };

            // ---- Barriers, hints and counters
            /// Trap barrier.
            trapb = Misc(0x18, 0x0000) Effect pal { BASE, BARRIER };
            /// Exception barrier.
            excb = Misc(0x18, 0x0400) Effect pal { BASE, BARRIER };
            /// Memory barrier.
            mb = Misc(0x18, 0x4000) Effect pal { BASE, BARRIER };
            /// Write memory barrier.
            wmb = Misc(0x18, 0x4400) Effect pal { BASE, BARRIER };
            /// Prefetch data.
            fetch = MiscB(0x18, 0x8000) Effect pal { BASE };
            /// Prefetch data, to be modified.
            fetch_m = MiscB(0x18, 0xa000) Effect pal { BASE };
            /// Read process cycle counter.
            rpcc = MiscAB(0x18, 0xc000) ReadMisc pal { BASE };
            /// Read and clear the interrupt flag.
            rc = MiscA(0x18, 0xe000) ReadMisc pal { BASE };
            /// Evict cache block.
            ecb = MiscB(0x18, 0xe800) Effect pal { BASE };
            /// Read and set the interrupt flag.
            rs = MiscA(0x18, 0xf000) ReadMisc pal { BASE };
            /// Write hint: the 64 bytes will be written whole.
            wh64 = MiscB(0x18, 0xf800) Effect pal { BASE };
            /// Write hint: the 64 bytes will be written whole; evict next.
            wh64en = MiscB(0x18, 0xfc00) Effect pal { BASE };
        }
    };
}
