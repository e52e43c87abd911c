package dev.warpwright.jvm;
