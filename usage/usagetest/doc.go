// Package usagetest is the contract that every source of usage passes.
package usagetest
