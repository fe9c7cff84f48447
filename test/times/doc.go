// Program times prints at the end of a run of tests where the time went: per target of make, per package
// and per slow test. It names the tests that failed and passed when they ran again, and those that failed.
//
// It reads what test/timed and gotestsum have written into a folder, and must not know what the tests are.
package main
