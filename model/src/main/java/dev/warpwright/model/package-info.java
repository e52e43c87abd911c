package dev.warpwright.model;
