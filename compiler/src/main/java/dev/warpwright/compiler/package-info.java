package dev.warpwright.compiler;
