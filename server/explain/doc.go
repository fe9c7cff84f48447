// Package explain implements the ExplainService: all that explains the size of one pod, of the same moment. The CLI and other
// callers only display it.
//
// It must not derive anything that a plan does not say.
package explain
