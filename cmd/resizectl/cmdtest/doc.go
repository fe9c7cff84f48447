// Package cmdtest is for the tests of the commands: it runs command lines as a shell does,
// against a server that answers what a test says, and compares what a person would see
// with golden files.
//
// It must not know the commands, which are given to it.
package cmdtest
