// Package trace reads recorded usage from files, to replay it.
//
// A trace is text, possibly compressed with gzip. A row
//
//	vm NAME cores CORES memory_kib KIB mhz MHZ
//
// begins a machine with what it was given; 0 if that is unknown. Each following row is a sample of it:
//
//	TIME,CORES_USED,KIB_USED
//
// The time of a machine's first sample is in Unix seconds, that of the others in seconds since the
// sample before. Rows that begin with # are comments.
package trace
