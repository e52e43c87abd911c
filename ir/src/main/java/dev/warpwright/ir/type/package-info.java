/** Types of values and elements, and how numbers are rounded. */
@NullMarked
package dev.warpwright.ir.type;

import org.jspecify.annotations.NullMarked;
