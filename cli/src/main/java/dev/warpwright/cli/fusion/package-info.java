/**
 * What the ways to fuse a whole network are worth: measured beside each other, searched, explained.
 */
package dev.warpwright.cli.fusion;
