// Package live sends a part of a page to a browser whenever it has changed, as server-sent events. The part is a tree of elements and
// texts, so that the browser never parses HTML that arrives later.
//
// It must not know what the part shows.
package live
