/** A user's own programs in text: scheduled by hand or searched for, lowered, run on own data. */
package dev.warpwright.cli.program;
