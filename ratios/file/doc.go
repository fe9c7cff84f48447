// Package file is the provider that reads ratios from a file and follows its changes.
//
// It must not know other providers or write anything.
package file
