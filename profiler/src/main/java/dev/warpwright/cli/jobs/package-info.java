/** {@code jobs}, and what runs in the background. */
@NullMarked
package dev.warpwright.cli.jobs;

import org.jspecify.annotations.NullMarked;
