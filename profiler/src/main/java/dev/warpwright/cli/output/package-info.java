/** What a command prints: reports as text and as JSON, and lines of progress. */
package dev.warpwright.cli.output;
