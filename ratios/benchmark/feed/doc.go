// Package feed reads published measurements in all supported formats. It reports an invalid row
// with its line, and still reads the valid ones.
//
// It must not know where a feed is or when it is read.
package feed
