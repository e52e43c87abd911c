/** Reading whole files as memory and writing files so that no half-written one is ever seen. */
package dev.warpwright.model.io;
