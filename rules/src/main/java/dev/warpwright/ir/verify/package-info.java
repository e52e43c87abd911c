/**
 * What makes a program of each level well formed. {@link dev.warpwright.ir.verify.Rule} lists the
 * rules, {@link dev.warpwright.ir.verify.Verifier} collects everything that breaks one. A program
 * without problems means something on every executor; whether that is what was wanted, and whether
 * it is free of races, is for the interpreter and the simulator to say.
 */
@NullMarked
package dev.warpwright.ir.verify;

import org.jspecify.annotations.NullMarked;
