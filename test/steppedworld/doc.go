// Package steppedworld has the common parts of tests in which servers live through days within minutes: two servers whose clock a
// test moves and whose leader it kills, what node agents report to them, and an observer of pods.
//
// It must not know what a test checks, nor the internals of the server.
package steppedworld
