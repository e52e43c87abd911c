/** Tile programs and statements that are written as text. */
package dev.warpwright.lower.text;
