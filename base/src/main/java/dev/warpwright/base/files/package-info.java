/** Where a user's files lie, and how files are written so that none is ever half there. */
package dev.warpwright.base.files;
