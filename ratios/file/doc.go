// Package file is the provider that reads ratios from a file, and follows it.
//
// It must not know other providers, nor write anything.
package file
