// Package podtest makes pods for tests, with the API server's record of who wrote them.
package podtest
