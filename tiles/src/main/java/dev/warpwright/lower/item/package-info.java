/** Work items of GEMMs: which tile or part of one a block has, its copies in, its result out. */
package dev.warpwright.lower.item;
