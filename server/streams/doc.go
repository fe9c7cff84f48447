// Package streams has what calls that go on for long have in common: they end although
// their caller does not read, and if they are watches, they tell what a log of changes
// has, from the present state or a token on, as long as the caller may have it.
//
// It must not know what is sent.
package streams
