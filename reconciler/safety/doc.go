// Package safety holds the vetoes: why a pod must be left alone.
//
// Each veto is a pure check over a snapshot and gives one reason. Their order
// is the order in which people are told: the first veto is the answer.
//
// It must not know clients nor the time, and never changes what it looks at.
package safety
