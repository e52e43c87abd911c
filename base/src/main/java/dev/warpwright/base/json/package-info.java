/** JSON: values, a writer, and a strict reader of texts that may be hostile. */
@NullMarked
package dev.warpwright.base.json;

import org.jspecify.annotations.NullMarked;
