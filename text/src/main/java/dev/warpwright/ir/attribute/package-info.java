/** The attributes that loops, blocks, statements and functions may have. */
package dev.warpwright.ir.attribute;
