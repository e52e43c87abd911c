/** The stages of a network: which read which, which share a kernel, what is moved between them. */
package dev.warpwright.networks.stages;
