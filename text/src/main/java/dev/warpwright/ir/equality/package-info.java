/** Equality up to renaming, and the form in which equal trees have equal text. */
@NullMarked
package dev.warpwright.ir.equality;

import org.jspecify.annotations.NullMarked;
