package dev.warpwright.lower;
