// Package ratiotest contains the contract tests that every provider of ratios must pass, and an
// in-memory provider for the tests of packages that use ratios.
package ratiotest
