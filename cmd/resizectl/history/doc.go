// Package history has the commands that show what happened to pods, and to what decides about their sizes: they list and
// watch the entries of the journal, and its gaps.
//
// It must not know what pods or holds are like now.
package history
