// Package command is how commands are called, and how they end: the arguments and flags
// that several of them have, what is wrong with a command line, what a shell completes,
// the question before many pods change, standard input, and exit codes.
//
// It must not know a server: what a command asks, and what it prints of the answer, is its
// own matter.
package command
