// Package lifecycle brings up and takes down clusters and single components. It creates
// the files, starts the processes in order, waits until each is ready, and ends exactly
// the processes that were started.
//
// It must not know what the components do, only how to check that they are ready.
package lifecycle
