/** The attributes that loops, blocks, statements and functions may have. */
@NullMarked
package dev.warpwright.ir.attribute;

import org.jspecify.annotations.NullMarked;
