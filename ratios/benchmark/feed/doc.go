// Package feed reads published measurements in the formats that there are. A bad
// row is told by its line, and does not keep the good ones out.
//
// It must not know where a feed is, nor when it is read.
package feed
