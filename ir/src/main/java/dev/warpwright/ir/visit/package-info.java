/** Walks over expressions and statements: visiting, rewriting, substituting, evaluating. */
@NullMarked
package dev.warpwright.ir.visit;

import org.jspecify.annotations.NullMarked;
