// Package paging makes the tokens that lists go on from: after what they had last, so
// that they are good at every replica and after a restart.
//
// It must not know what is listed.
package paging
