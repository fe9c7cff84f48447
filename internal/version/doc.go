// Package version identifies the release and the commit that a program was built from.
//
// It must not know the programs, nor how they are built.
package version
