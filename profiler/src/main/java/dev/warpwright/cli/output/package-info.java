/** What a command prints: reports as text and as JSON, and lines of progress. */
@NullMarked
package dev.warpwright.cli.output;

import org.jspecify.annotations.NullMarked;
