/** What was measured: records, the database that keeps them, and their exchange as JSON lines. */
@NullMarked
package dev.warpwright.space.record;

import org.jspecify.annotations.NullMarked;
