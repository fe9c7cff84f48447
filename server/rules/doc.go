// Package rules holds requests against the rules that the API states in its proto
// files, before a service is asked.
//
// It must not know what cannot be said there.
package rules
