// Package paging makes the page tokens of lists. A token names the last item of the previous
// page, so that it is valid on every replica and after a restart.
//
// It must not know what is listed.
package paging
