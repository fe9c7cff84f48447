// Package ratiotest holds what every provider of ratios has to pass, and a
// provider in memory for tests of those who use ratios.
package ratiotest
