/** JSON: values, a writer, and a strict reader of texts that may be hostile. */
@NullMarked
package dev.warpwright.ir.json;

import org.jspecify.annotations.NullMarked;
