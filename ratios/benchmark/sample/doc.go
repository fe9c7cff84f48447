// Package sample says what a measurement of a machine's speed is, and when it is
// one that can be compared.
//
// It must not know where samples come from, nor what is made of them.
package sample
