// Package paging cuts lists into pages. A page token names the last item of the previous page, so
// that it is valid on every replica and after a restart, and the request that it belongs to.
//
// It must not know what is listed.
package paging
