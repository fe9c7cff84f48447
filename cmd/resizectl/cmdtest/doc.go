// Package cmdtest supports the tests of the commands: it runs command lines as a shell does,
// against a server that answers as a test scripts, and compares what a user would see with
// golden files.
//
// It must not know the commands, which its callers provide.
package cmdtest
