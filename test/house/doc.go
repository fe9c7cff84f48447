// Package house tests that the table of packages in CONTRIBUTING.md matches the folders, and the table of
// stages in README.md those of the Makefile.
package house
