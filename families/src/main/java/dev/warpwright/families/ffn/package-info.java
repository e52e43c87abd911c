/** Feed-forward blocks: two GEMMs, the second on the result of the first, in one kernel. */
package dev.warpwright.families.ffn;
