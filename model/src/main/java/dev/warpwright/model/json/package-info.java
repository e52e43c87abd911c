/** A small, strict reader of JSON. */
@NullMarked
package dev.warpwright.model.json;

import org.jspecify.annotations.NullMarked;
