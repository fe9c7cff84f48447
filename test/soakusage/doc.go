// Package main disturbs two servers that collect usage on a cluster whose containers work, and checks
// that no recommendation moves or is lost: "make soak-usage".
package main
