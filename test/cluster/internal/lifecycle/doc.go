// Package lifecycle brings a cluster up, takes it down, and does both to single
// components: it makes the files, starts the processes in order, waits until
// each is of use, and ends exactly what was started.
//
// It must not know what the components do, only how to tell that they are
// ready.
package lifecycle
