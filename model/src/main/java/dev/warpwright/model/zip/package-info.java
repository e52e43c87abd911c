/** ZIP archives as PyTorch writes them. */
package dev.warpwright.model.zip;
