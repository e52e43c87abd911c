/** Feed-forward blocks: two GEMMs, the second on the result of the first, in one kernel. */
@NullMarked
package dev.warpwright.families.ffn;

import org.jspecify.annotations.NullMarked;
