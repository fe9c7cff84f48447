// Package oracle says what the size of a container should be, for tests that watch what
// becomes of pods.
//
// It must not know how sizes are planned: it has their rule written down once more, in
// fractions of any size.
package oracle
