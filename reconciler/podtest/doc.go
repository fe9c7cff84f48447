// Package podtest makes pods for tests, including their managedFields.
package podtest
