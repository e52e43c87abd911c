/** {@code jobs}, and what runs in the background. */
package dev.warpwright.cli.jobs;
