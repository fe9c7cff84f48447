// Package house tests that the table of packages in CONTRIBUTING.md matches the folders.
package house
