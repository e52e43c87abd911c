/**
 * The text form of the IR: one grammar for expressions, statements, PrimFuncs, Kernels and
 * Programs, printed by {@link dev.warpwright.ir.text.IrPrinter} and parsed by {@link
 * dev.warpwright.ir.text.IrParser}. The grammar is described in {@code docs/text-form.md}.
 */
@NullMarked
package dev.warpwright.ir.text;

import org.jspecify.annotations.NullMarked;
