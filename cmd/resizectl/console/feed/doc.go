// Package feed reads something again and again while somebody looks at it, and keeps the last answer: while the server does not
// answer, that is shown with the time when it is stale.
//
// It must not know what is read, or who looks at it.
package feed
