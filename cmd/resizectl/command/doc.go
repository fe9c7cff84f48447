// Package command has the parts that all commands share: arguments and flags, usage errors,
// shell completion, the confirmation before many pods change, standard input, and exit codes.
//
// It must not know a server: what to request, and what to print of the answer, is up to each
// command.
package command
