package dev.warpwright.runtime;
