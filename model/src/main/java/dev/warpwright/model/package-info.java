@NullMarked
package dev.warpwright.model;

import org.jspecify.annotations.NullMarked;
