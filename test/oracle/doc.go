// Package oracle computes the expected size of a container, for tests that observe pods.
//
// It must not know how sizes are planned: it implements the sizing rule independently, in exact
// fractions.
package oracle
