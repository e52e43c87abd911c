/** Pictures: a PNG encoder, so that no desktop module is needed to show what a network draws. */
package dev.warpwright.model.image;
