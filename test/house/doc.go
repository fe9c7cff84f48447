// Package house tests that the tables in CONTRIBUTING.md match the folders and the stages of the Makefile, and that
// the documentation has no more words than it may have, and only links to what exists.
package house
